//! What the speed examples share: a list of images and windows, and work that is repeated for ever.
//!
//! Each line of a list is `PATH`, or `PATH X Y WIDTH HEIGHT` with a tab between; each line of output says how many images were done.
use recordmill_image::pixels::Window;
use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

/// What examples return.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Time between two lines of output.
const REPORT: Duration = Duration::from_millis(100);

/// A file and the part of it that is wanted.
pub struct Item {
    /// The bytes of the file.
    pub data: Vec<u8>,
    /// All of the image if there is none.
    pub window: Option<Window>,
}

/// Reads the list at `path` and the files that it names.
pub fn read_list(path: &str) -> Outcome<Vec<Item>> {
    std::fs::read_to_string(path)?.lines().map(read_item).collect()
}

fn read_item(line: &str) -> Outcome<Item> {
    let fields: Vec<&str> = line.split('\t').collect();
    let window = match fields[1..] {
        [] => None,
        [x, y, width, height] => {
            Some(Window { x: x.parse()?, y: y.parse()?, width: width.parse()?, height: height.parse()? })
        }
        _ => return Err(format!("a path, or a path and four numbers, not {line:?}").into()),
    };
    Ok(Item { data: std::fs::read(fields[0])?, window })
}

/// Does `work` on one item after the other, over and over, and prints how many were done, until nobody reads it any more.
pub fn repeat<T>(items: &[T], mut work: impl FnMut(&T) -> Outcome) -> Outcome {
    let (mut count, mut since) = (0_usize, Instant::now());
    for item in items.iter().cycle() {
        work(item)?;
        count += 1;
        if since.elapsed() >= REPORT {
            println!("{count}");
            std::io::stdout().flush()?;
            (count, since) = (0, Instant::now());
        }
    }
    Ok(())
}
