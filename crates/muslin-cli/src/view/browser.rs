//! Opens an address in the person's browser, where there is one.

use std::env;
use std::process::{Command, Stdio};
use std::thread;

/// Whether a browser is about to show the address.
pub(super) fn open(address: &str) -> bool {
    // Without a screen, xdg-open would look for a browser in the terminal.
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    let (program, words): (&str, &[&str]) = match env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ if has_screen => ("xdg-open", &[]),
        _ => return false,
    };
    let mut command = Command::new(program);
    command.args(words).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // Some of them stay for as long as the browser does; somebody has to wait for them.
            thread::spawn(move || child.wait().ok());
            true
        }
        Err(_) => false,
    }
}
