//! `cargo xtask page`: builds the page from its sources: the core as WebAssembly, with and without threads, and the TypeScript around it.
//!
//! The TypeScript is in the repository, the core is not: the page of a program that was built without it simulates with the program. With the
//! core, the folder is a page for any static host, and the next build of the program embeds it.
//!
//! The core needs a compiler that builds the standard library for wasm32, since threads change it: Debian's `rustc-web`, or a nightly of rustup
//! with `rust-src`. Where neither is there and this is a Debian machine that we may change, the packages are installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::Failure;
use crate::readers::fresh;
use crate::shell::{self, cargo, on, program, root, run as run_program, succeeds, target};

/// Where the page lies that the program embeds and a static host can serve; all of it but the core is in the repository.
const COMMITTED: &str = "crates/muslin-cli/page";
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
/// The core without and with threads.
const MODULES: [&str; 2] = ["muslin.wasm.gz", "muslin-threads.wasm.gz"];
const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/// Of every thread.
const STACK_BYTES: usize = 4 << 20;
/// Of the shared memory; page/src/engine/worker.ts makes it.
const INITIAL_BYTES: usize = 32 << 20;
const MAX_BYTES: usize = 1 << 31;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let out = root().join(COMMITTED);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            build(&out)?;
            build_core(&out)?;
        }
        ["--keep-core"] => build(&out)?,
        ["--pictures"] => return take_pictures(),
        _ => {
            return Err(Failure::Usage(
                "`page` takes nothing; or --keep-core, which builds the TypeScript alone; \
                 or --pictures, which puts those of the last test into docs/gallery/page"
                    .to_owned(),
            ));
        }
    }
    println!("\n{}:", out.display());
    for (name, bytes) in files(&out)? {
        println!("  {name:<40} {bytes:>9} bytes");
    }
    let has_core = MODULES.iter().all(|name| out.join(name).exists());
    println!(
        "{}",
        match has_core {
            true => "Any static host can serve this folder; the next `cargo build` puts it into the program.",
            false => "It has no core: `muslin view` simulates for it. `cargo xtask page` builds one for a static host.",
        }
    );
    Ok(())
}

/// Puts the pictures that the last test run made where the documents show them.
fn take_pictures() -> Result<(), Failure> {
    let (from, to) = (target().join("page-pictures"), root().join("docs/gallery/page"));
    fs::create_dir_all(&to).map_err(on(&to))?;
    for (name, bytes) in files(&from)? {
        fs::copy(from.join(&name), to.join(&name)).map_err(on(&to))?;
        println!("{} ({bytes} bytes)", to.join(&name).display());
    }
    Ok(())
}

/// A stage of `cargo xtask test`: the page, built again from its sources, its core held to the pinned hashes, and all of it tried in a real
/// browser. Says what had to be skipped, if anything.
pub(crate) fn test() -> Result<Option<String>, Failure> {
    // Without these nothing can be said of the page; whoever changes it needs them anyway.
    let missing = node().err().or_else(|| browser().err()).or_else(|| Compiler::find().err());
    if let Some(failure) = missing {
        println!("!! SKIPPED: {failure}");
        return Ok(Some(format!("the page: {failure}")));
    }
    let out = fresh(&target().join("page"))?;
    build(&out)?;
    compare(&out)?;
    run_program(&mut npm(["test"]))?;
    build_core(&out)?;
    run_program(npm(["run", "hashes"]).env("MUSLIN_PAGE", &out))?;
    run_program(&mut cargo(["build", "--release", "--quiet"]))?;
    let program = target().join("release").join(if cfg!(windows) { "muslin.exe" } else { "muslin" });
    let pictures = fresh(&target().join("page-pictures"))?;
    run_program(
        npm(["run", "test:browser"])
            .env("MUSLIN_PROGRAM", program)
            .env("MUSLIN_PAGE", &out)
            .env("MUSLIN_BROWSER", browser()?)
            .env("MUSLIN_PICTURES", &pictures),
    )?;
    println!("pictures of the page: {}", pictures.display());
    Ok(None)
}

/// Chromium, which is installed where that is possible.
fn browser() -> Result<PathBuf, Failure> {
    let find = || BROWSERS.iter().map(PathBuf::from).find(|path| path.exists());
    if let Some(path) = find() {
        return Ok(path);
    }
    install_debian(&["chromium"])?;
    find().ok_or_else(|| Failure::Failed("Chromium is missing (Debian: apt install chromium)".to_owned()))
}

/// The page in the repository must be the one that its sources give. The core is not in the repository, and may lie beside the rest.
fn compare(built: &Path) -> Result<(), Failure> {
    let committed = root().join(COMMITTED);
    let names = |folder: &Path| -> Result<Vec<String>, Failure> {
        Ok(files(folder)?.into_iter().map(|(name, _)| name).filter(|name| !name.ends_with(".wasm.gz")).collect())
    };
    let (ours, theirs) = (names(built)?, names(&committed)?);
    let read = |folder: &Path, name: &str| fs::read(folder.join(name)).ok();
    let different = ours.iter().chain(&theirs).find(|name| read(built, name) != read(&committed, name));
    match different {
        None => Ok(()),
        Some(name) => Err(Failure::Failed(format!(
            "{COMMITTED}/{name} is not what the sources of the page give; run `cargo xtask page --keep-core` and commit it"
        ))),
    }
}

/// Every file below a folder with its size, by name.
fn files(folder: &Path) -> Result<Vec<(String, u64)>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(on(&next))? {
            let path = entry.map_err(on(&next))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, fs::metadata(&path).map_err(on(&path))?.len()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Builds both modules of the core, and packs them into a folder.
fn build_core(out: &Path) -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    // Both spend half of their time on one thread.
    let built = thread::scope(|scope| {
        let builds = [false, true].map(|threads| {
            let compiler = &compiler;
            scope.spawn(move || compiler.build(threads))
        });
        builds.map(|build| {
            build.join().unwrap_or_else(|_| Err(Failure::Failed("the build of the core broke off".to_owned())))
        })
    });
    let [single, threads] = built;
    fs::create_dir_all(out).map_err(on(out))?;
    for (module, name) in [single?, threads?].into_iter().zip(MODULES) {
        run_program(node()?.arg("page/scripts/pack.mjs").arg(module).arg(out.join(name)))?;
    }
    Ok(())
}

/// Builds the TypeScript into a folder, and leaves a core that is there.
fn build(out: &Path) -> Result<(), Failure> {
    shell::install_packages(&root().join("page"))?;
    run_program(npm(["run", "build"]).env("MUSLIN_PAGE_OUT", out))
}

/// A call of npm in the folder of the page.
fn npm<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    shell::npm(&root().join("page"), arguments)
}

/// Node, if it is new enough.
fn node() -> Result<Command, Failure> {
    let version =
        program("node").arg("--version").output().ok().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let major = version.as_deref().and_then(|v| v.trim().strip_prefix('v')?.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(20..) => Ok(program("node")),
        Some(old) => {
            Err(Failure::Failed(format!("the page needs Node 20 or newer, and this is {old}: https://nodejs.org")))
        }
        None => Err(Failure::Failed("the page needs Node 20 or newer, with npm: https://nodejs.org".to_owned())),
    }
}

/// A compiler for wasm32 that can build the standard library.
struct Compiler {
    cargo: PathBuf,
    /// The nightly of rustup, where it is that.
    toolchain: Option<&'static str>,
    rustc: Option<PathBuf>,
    linker: Option<PathBuf>,
}

impl Compiler {
    fn find() -> Result<Self, Failure> {
        if let Some(found) = Self::debian().or_else(Self::nightly) {
            return Ok(found);
        }
        install_debian(&PACKAGES)?;
        Self::debian().ok_or_else(|| {
            Failure::Failed(format!(
                "the core of the page needs a Rust that builds its standard library for wasm32: \
                 rustup toolchain install nightly -c rust-src -t wasm32-unknown-unknown, or on Debian: apt install {}",
                PACKAGES.join(" ")
            ))
        })
    }

    fn debian() -> Option<Self> {
        let [cargo, rustc] = ["/usr/bin/cargo", "/usr/bin/rustc"].map(PathBuf::from);
        let sources = Path::new("/usr/lib/rustlib/src/rust/library/std");
        let linker =
            (15..40).rev().map(|n| PathBuf::from(format!("/usr/bin/wasm-ld-{n}"))).find(|path| path.exists())?;
        let all_there = cargo.exists() && rustc.exists() && sources.exists();
        all_there.then_some(Self { cargo, toolchain: None, rustc: Some(rustc), linker: Some(linker) })
    }

    fn nightly() -> Option<Self> {
        let sysroot =
            program("rustc").args(["+nightly", "--print", "sysroot"]).output().ok().filter(|o| o.status.success())?;
        let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim().to_owned());
        let has_sources = sysroot.join("lib/rustlib/src/rust/library/std").exists();
        has_sources.then(|| Self { cargo: "cargo".into(), toolchain: Some("+nightly"), rustc: None, linker: None })
    }

    /// Builds the module; where it is.
    fn build(&self, threads: bool) -> Result<PathBuf, Failure> {
        let folder = target().join(if threads { "web-threads" } else { "web" });
        let mut flags = vec![
            "-Ctarget-feature=+simd128,+bulk-memory".to_owned(),
            format!("-Clink-arg=-zstack-size={STACK_BYTES}"),
            // Paths of this machine are nobody's business.
            format!("--remap-path-prefix={}=muslin", root().display()),
        ];
        if let Some(home) =
            std::env::var_os("CARGO_HOME").or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo").into()))
        {
            flags.push(format!("--remap-path-prefix={}=cargo", Path::new(&home).display()));
        }
        if threads {
            flags.push("-Ctarget-feature=+atomics".to_owned());
            let link = [
                "--shared-memory",
                "--import-memory",
                "--export=__stack_pointer",
                "--export=__wasm_init_tls",
                "--export=__tls_size",
            ];
            flags.extend(link.map(|argument| format!("-Clink-arg={argument}")));
            flags.push(format!("-Clink-arg=--initial-memory={INITIAL_BYTES}"));
            flags.push(format!("-Clink-arg=--max-memory={MAX_BYTES}"));
        }
        let mut command = program(&self.cargo);
        // What the Cargo that runs us told us is of another compiler.
        shell::forget(&mut command, &["CARGO_PKG_", "CARGO_MANIFEST_", "RUST"]);
        command.args(self.toolchain).args(["build", "--profile", "wasm", "--package", "muslin-web"]);
        command
            .args(["--target", "wasm32-unknown-unknown", "-Zbuild-std=std,panic_abort", "--target-dir"])
            .arg(&folder);
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).env("RUSTC_BOOTSTRAP", "1");
        if let Some(rustc) = &self.rustc {
            command.env("RUSTC", rustc);
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        run_program(&mut command)?;
        Ok(folder.join("wasm32-unknown-unknown/wasm/muslin_web.wasm"))
    }
}

/// Installs packages of Debian, where that is possible; whoever needs them sees whether it was.
fn install_debian(packages: &[&str]) -> Result<(), Failure> {
    let may = succeeds(program("apt-get").arg("--version")) && succeeds(program("sh").args(["-c", "[ $(id -u) = 0 ]"]));
    if !may {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = program("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
        command
    };
    run_program(&mut apt(&["update", "--quiet"]))?;
    run_program(apt(&["install", "--quiet", "--yes", "--no-install-recommends"]).args(packages))
}
