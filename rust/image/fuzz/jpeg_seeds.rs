//! Writes seeds for the fuzz target `jpeg`: small valid files of every kind. Usage: jpeg_seeds FOLDER
#[path = "../tests/jpeg/libjpeg.rs"]
#[allow(dead_code)]
mod libjpeg;

use libjpeg::{Recipe, Scan, encode, test_image};
use mozjpeg_sys::J_COLOR_SPACE::JCS_RGB;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).ok_or_else(|| std::io::Error::other("usage: jpeg_seeds FOLDER"))?;
    std::fs::create_dir_all(&folder)?;
    for (number, recipe) in seed_recipes().iter().enumerate() {
        let channels = if recipe.sampling.len() == 1 { 1 } else { 3 };
        let data = encode(recipe, &test_image(recipe.width, recipe.height, channels, number as u64));
        std::fs::write(format!("{folder}/{number}.jpg"), data)?;
    }
    Ok(())
}

fn seed_recipes() -> Vec<Recipe> {
    let mut recipes = vec![
        Recipe::gray(9, 17),
        Recipe { progressive: true, ..Recipe::gray(20, 9) },
        Recipe { color: JCS_RGB, ..Recipe::new(17, 9, (1, 1)) },
    ];
    let separate = [0, 1, 2].map(|component| Scan::new(&[component], [0, 63, 0, 0]));
    for sampling in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)] {
        let recipe = Recipe { quality: 60, ..Recipe::new(35, 19, sampling) };
        recipes.push(Recipe { restart_interval: 2, ..recipe.clone() });
        recipes.push(Recipe { optimize: true, ..recipe.clone() });
        recipes.push(Recipe { progressive: true, ..recipe.clone() });
        recipes.push(Recipe { scans: separate.to_vec(), ..recipe });
    }
    recipes
}
