//! Code that the Rust programs share: the first argument names the action, and an error is printed as its library words it.
use std::env;
use std::error::Error;
use std::io::{Read, Write};

pub type Done = Result<(), Box<dyn Error>>;

pub fn url(path: &str) -> String {
    format!("{}{path}", env::var("API_URL").unwrap())
}

pub fn bearer() -> String {
    format!("Bearer {}", env::var("API_KEY").unwrap())
}

pub fn file() -> Vec<u8> {
    std::fs::read(env::var("FILE").unwrap()).unwrap()
}

/// For libraries that treat an error status as an ordinary answer.
pub fn checked(status: u16, text: String) -> Done {
    if status >= 400 {
        return Err(format!("{status}: {text}").into());
    }
    println!("{text}");
    Ok(())
}

/// Prints each piece as it arrives.
pub fn show(mut stream: impl Read) -> Done {
    let mut piece = [0; 4096];
    loop {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        std::io::stdout().write_all(&piece[..length])?;
        std::io::stdout().flush()?;
    }
}

pub fn run(action: impl Fn(&str) -> Done) {
    if let Err(error) = action(&env::args().nth(1).unwrap()) {
        eprintln!("{error:?}");
        std::process::exit(1);
    }
}
