//! Functions that the benchmark examples share: reading a list of images and windows, and repeating a task endlessly.
//!
//! Each line of a list is `PATH`, or `PATH X Y WIDTH HEIGHT` separated by tabs. Each line of output is the number of
//! images processed since the previous line.
use recordmill_image::pixels::Window;
use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

/// Return type of the examples.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Time between two lines of output.
const REPORT: Duration = Duration::from_millis(100);

/// A file, and the window of it to process.
pub struct ListItem {
    /// Contents of the file.
    pub data: Vec<u8>,
    /// The window; `None` for the whole image.
    pub window: Option<Window>,
}

/// Reads the list at `path` and the files in it.
pub fn read_list(path: &str) -> Outcome<Vec<ListItem>> {
    std::fs::read_to_string(path)?.lines().map(read_list_line).collect()
}

fn read_list_line(line: &str) -> Outcome<ListItem> {
    let fields: Vec<&str> = line.split('\t').collect();
    let window = match fields[1..] {
        [] => None,
        [x, y, width, height] => {
            Some(Window { x: x.parse()?, y: y.parse()?, width: width.parse()?, height: height.parse()? })
        }
        _ => return Err(format!("expected a path, or a path and four numbers, got {line:?}").into()),
    };
    Ok(ListItem { data: std::fs::read(fields[0])?, window })
}

/// Processes the items in an endless cycle and prints counts, until the output is closed.
pub fn repeat_forever<T>(items: &[T], mut work: impl FnMut(&T) -> Outcome) -> Outcome {
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
