//! `muslin view` over real connections: what it gives away, to whom, and what it survives.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::{Duration, Instant};

use muslin::parallel::Team;
use muslin_live::Live;
use muslin_testing::Random;
use serde_json::{Value, json};

use crate::browser::Server;
use crate::muslin::{Place, SQUARE, TINY, npy, said, signal, wait_until};

#[test]
fn the_page_comes_with_the_headers_that_protect_it() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let page = server.get("");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(String::from_utf8_lossy(&page.body).contains("<html"));
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(page.header(name), value, "{name}");
        assert_eq!(server.get("nothing").header(name), value, "{name} of an error");
    }
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("'unsafe-") && !policy.contains("http") && !policy.contains('*'), "{policy}");

    assert_eq!(server.get("index.html").body, page.body, "by its name too");
    let head = server.send("HEAD", "", "", b"");
    assert_eq!((head.status, head.header("content-length")), (200, page.body.len().to_string().as_str()));
    let info = server.get("api/info");
    assert_eq!(info.header("content-type"), "application/json");
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(256);
    // Whether this build has the core as WebAssembly depends on who built it.
    let has_core = ["muslin.wasm.gz", "muslin-threads.wasm.gz"].iter().all(|core| server.get(core).status == 200);
    assert_eq!(
        info.json(),
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "threads": cores,
            "page_core": has_core,
            "opened": { "kind": "scenes" },
        })
    );
    // Without its last slash the page could not find its files.
    let short = server.raw(format!("GET /{} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.token, server.port));
    assert_eq!((short.status, short.header("location")), (308, format!("/{}/", server.token).as_str()));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn nobody_else_is_let_in() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let (token, port) = (&server.token, server.port);
    let status = |path: &str, headers: &str| server.raw(format!("GET {path} HTTP/1.1\r\n{headers}\r\n")).status;
    let page = format!("/{token}/");
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(status(&page, &ours), 200);
    assert_eq!(status(&page, &format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n")), 200);

    // A wrong token looks the same as anything else that is not there.
    let missing = server.raw(format!("GET {page}nothing HTTP/1.1\r\n{ours}\r\n")).body;
    for path in ["/", "/index.html", "/api/info", "//", "/x/", &page[..page.len() - 2], &format!("/{token}0/")] {
        let reply = server.raw(format!("GET {path} HTTP/1.1\r\n{ours}\r\n"));
        assert_eq!((reply.status, &reply.body), (404, &missing), "{path}");
        assert!(reply.json()["message"].is_string());
    }
    for host in ["example.com", &format!("example.com:{port}"), "127.0.0.1", "127.0.0.1:1", &format!("[::1]:{port}")] {
        assert_eq!(status(&page, &format!("Host: {host}\r\n")), 403, "{host}");
    }
    assert_eq!(status(&page, ""), 403, "no host");
    for origin in ["http://example.com", "null", &format!("https://127.0.0.1:{port}"), "http://127.0.0.1:1"] {
        assert_eq!(status(&page, &format!("{ours}Origin: {origin}\r\n")), 403, "{origin}");
        let live = format!("POST /{token}/api/live HTTP/1.1\r\n{ours}Origin: {origin}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(server.raw(live).status, 403, "{origin}");
    }
    for (method, path) in [("POST", ""), ("PUT", "api/info"), ("GET", "api/live"), ("OPTIONS", "api/live")] {
        let reply = server.send(method, path, "", b"");
        assert_eq!(reply.status, 405, "{method} {path}");
        assert!(!reply.header("allow").is_empty(), "{method} {path}");
    }
}

/// An address of this machine that is not a loopback, if it has one. No packet is sent.
fn outer_address() -> Option<std::net::IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(("192.0.2.1", 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

#[test]
fn only_this_machine_can_connect() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let connects = |address: std::net::IpAddr| {
        TcpStream::connect_timeout(&(address, server.port).into(), Duration::from_secs(5)).is_ok()
    };
    assert!(connects(Ipv4Addr::LOCALHOST.into()));
    assert!(!connects(Ipv4Addr::new(127, 0, 0, 2).into()), "another loopback");
    assert!(!connects(Ipv6Addr::LOCALHOST.into()));
    if let Some(address) = outer_address() {
        assert!(!connects(address), "{address}");
    }
}

/// A folder with a run of `tiny.toml` in `out`, and a file beside it that is nobody's business.
fn finished() -> Place {
    let place = Place::new();
    place.write("secret.txt", "secret");
    place.succeed("run tiny.toml --quiet --preview none --out out");
    place
}

#[test]
fn a_finished_run_is_told_and_its_files_are_served() {
    let place = finished();
    let server = Server::start(&place, "out --threads 1");
    let info = server.get("api/info").json();
    let opened = &info["opened"];
    assert_eq!(info["threads"], 1);
    assert_eq!(
        [&opened["kind"], &opened["name"], &opened["frames"], &opened["fps"]],
        [&json!("run"), &json!("tiny"), &json!(10), &json!(100.0)]
    );
    assert_eq!(
        opened["cloths"],
        json!([{ "name": "sheet", "npy": "sheet.npy", "obj": "sheet.obj", "frames": 10, "vertices": 25,
                 "triangles": 32, "problem": null }])
    );
    assert_eq!(opened["report"]["outcome"], "done");
    assert_eq!(opened["report"]["frames"], Value::Null, "those are in report.json");
    for file in opened["files"].as_array().expect("files") {
        let name = file["name"].as_str().expect("a name");
        let reply = server.get(&format!("api/files/{name}"));
        assert_eq!(reply.status, 200, "{name}");
        assert!(reply.body == place.read(&format!("out/{name}")), "{name}");
        assert_eq!(file["bytes"], json!(reply.body.len()), "{name}");
        let kind = reply.header("content-type");
        assert!(!kind.contains("html") && !kind.contains("javascript"), "{name}: {kind}");
    }
    let names: Vec<&str> =
        opened["files"].as_array().expect("files").iter().filter_map(|file| file["name"].as_str()).collect();
    assert!(
        ["report.json", "scene.toml", "sheet.npy", "sheet.obj", "sheet.glb"].iter().all(|name| names.contains(name))
    );
}

#[test]
fn ranges_are_the_bytes_they_say() {
    let place = finished();
    let server = Server::start(&place, "out");
    let whole = place.read("out/sheet.npy");
    let get = |range: &str| server.send("GET", "api/files/sheet.npy", &format!("Range: {range}\r\n"), b"");
    let length = whole.len();
    for (range, start, end) in [
        ("bytes=0-127", 0, 128),
        ("bytes=128-427", 128, 428),
        ("bytes=-300", length - 300, length),
        ("bytes=5-", 5, length),
        ("bytes=7-99999999", 7, length),
    ] {
        let reply = get(range);
        assert_eq!(reply.status, 206, "{range}");
        assert!(reply.body == whole[start..end], "{range}");
        assert_eq!(reply.header("content-range"), format!("bytes {start}-{}/{length}", end - 1));
    }
    let beyond = get(&format!("bytes={length}-"));
    assert_eq!((beyond.status, beyond.header("content-range")), (416, format!("bytes */{length}").as_str()));
    for range in ["bytes=0-1,4-5", "lines=0-1", "bytes=x-1"] {
        let reply = get(range);
        assert!(reply.status == 200 && reply.body == whole, "{range}");
        assert_eq!(reply.header("accept-ranges"), "bytes");
    }
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let place = finished();
    place.write("out/notes.txt", "not of the run");
    symlink(place.path("secret.txt"), place.path("out/leak.txt")).expect("a link");
    // One that the report lists, but that leads out.
    fs::remove_file(place.path("out/sheet.glb")).expect("removed");
    symlink(place.path("secret.txt"), place.path("out/sheet.glb")).expect("a link");
    // And reports that were tampered with.
    let mut report = place.json("out/report.json");
    for name in ["../secret.txt", "/etc/passwd", "leak.txt", "up/secret.txt", "/proc/self/environ", "out"] {
        report["files"].as_array_mut().expect("files").push(json!(name));
    }
    place.write("out/report.json", report.to_string());
    symlink("..", place.path("out/up")).expect("a link");
    let server = Server::start(&place, "out");
    let secret = place.path("secret.txt").to_string_lossy().into_owned();
    for path in [
        "../secret.txt",
        "..%2Fsecret.txt",
        "%2e%2e/secret.txt",
        "%2E%2E%2Fsecret.txt",
        ".%2e/secret.txt",
        "..%5Csecret.txt",
        "..\\secret.txt",
        "./../secret.txt",
        "inputs/../../secret.txt",
        "up/secret.txt",
        "%2fetc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "%2Fproc%2Fself%2Fenviron",
        "..%00/secret.txt",
        "..%c0%afsecret.txt",
        "%252e%252e/secret.txt",
        "....//secret.txt",
        "leak.txt",
        "sheet.glb",
        "notes.txt",
        ".muslin.lock",
        "",
        ".",
        "%",
        &secret,
    ] {
        let reply = server.get(&format!("api/files/{path}"));
        assert_eq!(reply.status, 404, "{path}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("secret"), "{path}");
        // Nor does the page lead there.
        assert_eq!(server.get(&format!("{path}x")).status, 404, "{path}");
    }
    assert_eq!(server.get("api/files/sheet.npy").status, 200, "what is inside is there");
    let told = server.get("api/info").json();
    let files = told["opened"]["files"].as_array().expect("files").clone();
    assert!(files.iter().all(|file| file["name"] != "sheet.glb" && file["name"] != "leak.txt"), "{files:?}");
}

#[test]
fn a_page_from_a_folder_stays_in_it() {
    let place = Place::empty();
    place.write("secret.txt", "secret");
    place.write("page/index.html", "<html>mine</html>");
    place.write("page/assets/muslin.wasm", "\0asm");
    place.write("page/assets/index.js", "");
    symlink(place.path("secret.txt"), place.path("page/leak.txt")).expect("a link");
    let server = Server::start(&place, "--page page");
    assert_eq!(server.get("").body, b"<html>mine</html>");
    assert_eq!(server.get("assets/muslin.wasm").header("content-type"), "application/wasm");
    assert_eq!(server.get("assets/index.js").header("content-type"), "text/javascript; charset=utf-8");
    for path in ["leak.txt", "../secret.txt", "%2e%2e/secret.txt", "assets", "assets/../../secret.txt"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    // A page with both modules of the core simulates by itself; with fewer it is told to leave that to the program.
    let has_core = || server.get("api/info").json()["page_core"].clone();
    assert_eq!(has_core(), false);
    place.write("page/muslin.wasm.gz", "packed");
    assert_eq!(has_core(), false);
    place.write("page/muslin-threads.wasm.gz", "packed");
    assert_eq!(has_core(), true);
}

#[test]
fn a_scene_is_told_with_the_meshes_of_its_folder() {
    let place = Place::empty();
    place.write("away.obj", SQUARE);
    place.write("scenes/square.obj", SQUARE);
    place.write("scenes/meshes/a b.obj", SQUARE);
    symlink("../away.obj", place.path("scenes/link.obj")).expect("a link");
    let cloth = |name: &str, file: &str, y: f64| {
        format!("[[cloth]]\nname = \"{name}\"\nmesh = \"{file}\"\ntranslate = [0.0, {y:.1}, 0.0]\n")
    };
    let scene = [
        "name = \"meshes\"\n".to_owned(),
        cloth("one", "./square.obj", 1.0),
        cloth("two", "meshes/a b.obj", 2.0),
        cloth("three", "../away.obj", 3.0),
        cloth("four", "./square.obj", 4.0),
        cloth("five", "link.obj", 5.0),
    ]
    .concat();
    place.write("scenes/meshes.toml", &scene);
    let server = Server::start(&place, "scenes/meshes.toml --set solver.substeps=7 --set fps=50");
    let opened = server.get("api/info").json()["opened"].clone();
    assert_eq!(
        opened,
        json!({ "kind": "scene", "name": "meshes", "toml": scene, "sets": ["solver.substeps=7", "fps=50"],
                "files": ["./square.obj", "meshes/a b.obj"], "complete": false }),
        "what lies outside is not given away"
    );
    assert_eq!(server.get("api/files/square.obj").body, SQUARE.as_bytes(), "as a browser asks for ./square.obj");
    assert_eq!(server.get("api/files/meshes/a%20b.obj").body, SQUARE.as_bytes());
    for path in ["away.obj", "../away.obj", "%2e%2e/away.obj", "link.obj", "meshes.toml"] {
        assert_eq!(server.get(&format!("api/files/{path}")).status, 404, "{path}");
    }
    drop(server);

    // A scene of the program brings its meshes.
    let server = Server::start(&place, "tunic");
    let opened = server.get("api/info").json()["opened"].clone();
    assert_eq!(opened["files"], json!(["tunic/tunic.obj", "tunic/body.obj", "tunic/body.npy"]));
    assert_eq!(opened["complete"], true);
    let mesh = server.get("api/files/tunic/tunic.obj");
    assert!(mesh.status == 200 && mesh.body.is_ascii() && !mesh.body.is_empty(), "{}", mesh.status);
}

#[test]
fn meshes_that_are_colliders_are_told() {
    let place = Place::empty();
    place.write("plate.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 4 3\nf 1 3 2\n");
    let scene = "duration = 0.1\nfps = 30\n\
        [[cloth]]\nname = \"sheet\"\ngrid = { size = [0.5, 0.5], cells = [6, 6] }\ntranslate = [0, 0.1, 0]\n\
        [[collider]]\nname = \"a b\"\nmesh = { file = \"plate.obj\" }\n\
        path = [{ time = 0.0, offset = [0, 0, 0] }, { time = 0.1, offset = [0, 0.01, 0] }]\n\
        [[collider]]\nmesh = { file = \"plate.obj\", translate = [0, -0.5, 0] }\n";
    place.write("plates.toml", scene);
    place.succeed("run plates.toml --quiet --preview none --formats npy --out out");
    let server = Server::start(&place, "out");
    let opened = server.get("api/info").json()["opened"].clone();
    let [moves, stands] = [&opened["bodies"][0], &opened["bodies"][1]];
    assert_eq!([&moves["name"], &moves["frames"], &moves["vertices"]], [&json!("a b"), &json!(3), &json!(4)]);
    assert_eq!([&stands["npy"], &stands["obj"]], [&Value::Null, &json!("collider1.obj")]);
    for name in [&moves["npy"], &moves["obj"], &stands["obj"]] {
        let name = name.as_str().expect("a name").replace(' ', "%20");
        assert_eq!(server.get(&format!("api/files/{name}")).status, 200, "{name}");
    }
    drop(server);
    let server = Server::start(&place, "plates.toml");
    let opened = server.get("api/info").json()["opened"].clone();
    assert_eq!([&opened["files"], &opened["complete"]], [&json!(["plate.obj"]), &json!(true)]);
}

#[test]
fn an_unfinished_run_is_shown_as_far_as_it_got() {
    let place = Place::new();
    let words = "run tiny.toml --quiet --formats npy --preview none --threads 1 --frames 1000000 --out out \
                 --set cloth.0.grid.cells=[30,30]";
    let mut child = place.start(words, "out/sheet.npy", 20);
    // While it goes on, each look shows more.
    let server = Server::start(&place, "out");
    let frames = || server.get("api/info").json()["opened"]["frames"].as_u64().expect("a number");
    let first = frames();
    assert!(first >= 19, "{first}");
    wait_until(&mut child, || frames() > first);
    signal(&child, "INT");
    child.wait().expect("an end");
    let info = server.get("api/info").json();
    let [shape, vertices, _] = npy(&place.read("out/sheet.npy")).0;
    assert_eq!(info["opened"]["frames"], json!(shape - 1));
    assert_eq!(info["opened"]["cloths"][0]["vertices"], json!(vertices));
    assert_eq!(info["opened"]["report"]["outcome"], "interrupted");
}

/// The head of a buffer, and one of its sections as bytes.
fn section(buffer: &[u8], name: &str) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(buffer[..4].try_into().expect("a length")) as usize;
    let head: Value = serde_json::from_slice(&buffer[4..4 + length]).expect("a head");
    let sections = head["sections"].as_array().expect("sections");
    let section = sections.iter().find(|section| section["name"] == name).expect("the section");
    assert_eq!(section["type"], "f32", "{name}");
    let [offset, length] = ["offset", "length"].map(|key| section[key].as_u64().expect("a number") as usize);
    let bytes = buffer[offset..offset + 4 * length].to_vec();
    (head, bytes)
}

#[test]
fn a_session_simulates_to_the_bits_of_a_run() {
    let place = Place::new();
    let report = place.report("");
    let server = Server::start(&place, "tiny.toml --threads 2");
    let session = server.session();
    let opened = server.get("api/info").json()["opened"].clone();
    let reply = server.call(&session, &json!({ "do": "open", "toml": opened["toml"], "sets": opened["sets"] }));
    assert_eq!((&reply["ok"], &reply["scene"]["vertices"]), (&json!(true), &json!(25)), "{reply}");

    // The library itself, asked the same, gives the same numbers.
    let mut live = Live::new(place.path(""), Box::new(Team::new), || 0.0, 1);
    live.call(&json!({ "do": "open", "toml": TINY }).to_string());
    for advance in [0, 1, 9] {
        let request = json!({ "do": "frame", "advance": advance, "color": "strain" }).to_string();
        let reply = server.post(&format!("{session}/binary"), &request);
        assert_eq!((reply.status, reply.header("content-type")), (200, "application/octet-stream"));
        let expected = live.binary(&request);
        for name in ["positions", "color"] {
            let [(head, got), (expected_head, wanted)] = [&reply.body, &expected].map(|buffer| section(buffer, name));
            assert!(got == wanted && !got.is_empty(), "{name} after {advance}");
            assert_eq!([&head["frame"], &head["time"]], [&expected_head["frame"], &expected_head["time"]]);
        }
    }
    let hash = server.call(&session, &json!({ "do": "hash" }));
    assert_eq!([&hash["hash"], &hash["frame"]], [&report["state_hash"], &json!(10)], "as `muslin run` ends");

    // A page that is loaded again goes on where it was: the id is enough.
    let again = server.call(&session, &json!({ "do": "hash" }));
    assert_eq!(again, hash);
    // What a session refuses is its answer, not an error of the server.
    let refused = server.call(&session, &json!({ "do": "set", "sets": ["solver.substeps=0"] }));
    assert_eq!((&refused["ok"], &refused["findings"][0]["place"]), (&json!(false), &json!("solver.substeps")));
    for noise in ["", "{", "[]", "{\"do\": 1}", "\u{0}"] {
        assert_eq!(server.post(&format!("{session}/call"), noise).json()["ok"], false, "{noise:?}");
    }
    assert_eq!(server.post(&format!("{session}/call"), b"\xff").status, 400);

    assert_eq!(server.send("DELETE", &session, "", b"").status, 200);
    for path in [format!("{session}/call"), format!("{session}/binary"), "api/live/0/call".to_owned()] {
        let reply = server.post(&path, "{}");
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.json()["message"].is_string(), "{path}");
    }
    assert_eq!(server.send("DELETE", &session, "", b"").status, 404);
}

#[test]
fn meshes_come_from_the_folder_or_from_the_page() {
    let place = Place::empty();
    place.write("away.obj", SQUARE);
    let scene = |file: &str| format!("name = \"one\"\n[[cloth]]\nname = \"one\"\nmesh = \"{file}\"\n");
    place.write("scenes/one.toml", scene("../away.obj"));
    let server = Server::start(&place, "scenes/one.toml");
    let session = server.session();
    let open = |file: &str| server.call(&session, &json!({ "do": "open", "toml": scene(file) }));
    assert_eq!(open("../away.obj")["scene"]["vertices"], 4, "the machine has it, though it is not given away");
    let missing = open("given/ü.obj");
    assert_eq!(missing["ok"], false, "{missing}");
    assert_eq!(server.post(&format!("{session}/file?name=given%2F%C3%BC.obj"), SQUARE).status, 200);
    assert_eq!(open("given/ü.obj")["scene"]["vertices"], 4);
    assert_eq!(server.post(&format!("{session}/file"), SQUARE).status, 404, "without a name");
    drop(server);

    // The text of a built-in scene finds the meshes that are in the program, and so do the results of a run.
    let server = Server::start(&place, "tunic");
    let toml = server.get("api/info").json()["opened"]["toml"].clone();
    let reply = server.call(&server.session(), &json!({ "do": "open", "toml": toml }));
    assert_eq!(reply["scene"]["name"], "tunic", "{reply}");
    drop(server);
    place.succeed("run scenes/one.toml --quiet --frames 1 --preview none --formats npy --out out");
    let server = Server::start(&place, "out");
    let toml = String::from_utf8(server.get("api/files/scene.toml").body).expect("text");
    assert!(toml.contains("inputs/one.obj"), "{toml}");
    let reply = server.call(&server.session(), &json!({ "do": "open", "toml": toml }));
    assert_eq!(reply["scene"]["vertices"], 4, "{reply}");
}

#[test]
fn sessions_are_few_and_do_not_wait_for_each_other() {
    let place = Place::empty();
    let server = Server::start(&place, "--threads 1");
    let sessions: Vec<String> = (0..8).map(|_| server.session()).collect();
    let ninth = server.post("api/live", "");
    assert_eq!(ninth.status, 503);
    assert!(ninth.json()["message"].as_str().is_some_and(|message| message.starts_with("8 sessions")));

    // A step that takes seconds, while others go on.
    let heavy =
        json!({ "do": "open", "scene": "drape", "sets": ["cloth.0.grid.cells=[200,200]", "solver.substeps=50"] });
    assert_eq!(server.call(&sessions[0], &heavy)["ok"], true);
    let light = json!({ "do": "open", "toml": TINY });
    assert_eq!(server.call(&sessions[1], &light)["ok"], true);
    let mut busy = server.connect();
    let step = json!({ "do": "frame", "advance": 100 }).to_string();
    busy.write(&server.request("POST", &format!("{}/binary", sessions[0]), "", step.as_bytes()));
    std::thread::sleep(Duration::from_millis(100));
    for _ in 0..5 {
        let reply = server.post(&format!("{}/binary", sessions[1]), json!({ "do": "frame", "advance": 1 }).to_string());
        assert_eq!(section(&reply.body, "positions").0["ok"], true);
        assert_eq!(server.get("api/info").status, 200);
    }
    assert!(!busy.has_something(), "the long step is still on its way");
    // Closed while it is busy, it makes room at once; and Ctrl-C does not wait for it.
    assert_eq!(server.send("DELETE", &sessions[0], "", b"").status, 200);
    server.session();
    assert!(!busy.has_something(), "and still is");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn bodies_have_limits() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let session = server.session();
    let large = vec![b' '; (1 << 20) + 1];
    assert_eq!(server.post(&format!("{session}/call"), &large).status, 413);
    assert_eq!(server.post(&format!("{session}/binary"), &large).status, 413);
    assert_eq!(server.post(&format!("{session}/call"), &large[1..]).status, 200, "the limit itself is allowed");
    assert_eq!(server.post(&format!("{session}/file?name=a.obj"), &large).status, 200, "files may be larger");
    assert_eq!(server.send("GET", "api/info", "", b"body").status, 413, "no body is expected");
    let (token, port) = (&server.token, server.port);
    let head = |length: &str| {
        server.raw(format!(
            "POST /{token}/{session}/file?name=a HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\n\r\n"
        ))
    };
    let started = Instant::now();
    assert_eq!(head("268435457").status, 413, "before any of it was sent");
    assert_eq!(head("99999999999999999").status, 413);
    assert_eq!(head("99999999999999999999999").status, 400);
    assert!(started.elapsed() < Duration::from_secs(10), "it does not wait for what it refuses");
    for encoding in ["chunked", "gzip, chunked", "identity"] {
        let reply = server.send("POST", "api/live", &format!("Transfer-Encoding: {encoding}\r\n"), b"");
        assert_eq!(reply.status, 501, "{encoding}");
    }
    assert_eq!(server.raw(format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000))).status, 431);

    // A client that asks first is told to go on.
    let mut client = server.connect();
    let request = server.request("POST", &format!("{session}/file?name=b.obj"), "Expect: 100-continue\r\n", b"12345");
    let (head, body) = request.split_at(request.len() - 5);
    client.write(head);
    assert_eq!(client.reply(false).status, 100);
    client.write(body);
    assert_eq!(client.reply(false).status, 200);
}

#[test]
fn half_a_request_keeps_nobody_waiting_and_is_closed() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let started = Instant::now();
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut slow {
        client.write(b"GET / HTTP/1.1\r\nHost: loc");
    }
    // And one that has sent its head, but keeps its body back.
    let session = server.session();
    let mut silent = server.connect();
    let request = server.request("POST", &format!("{session}/call"), "", b"12345");
    silent.write(&request[..request.len() - 2]);
    for _ in 0..20 {
        assert_eq!(server.get("").status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(4), "the others did not wait: {:?}", started.elapsed());
    // Dropping in single bytes does not help.
    while started.elapsed() < Duration::from_secs(4) {
        slow[0].write(b"a");
        std::thread::sleep(Duration::from_millis(300));
    }
    for client in &mut slow {
        assert_eq!(client.reply(false).status, 408);
        assert!(client.is_closed());
    }
    assert!(started.elapsed() < Duration::from_secs(60), "in seconds: {:?}", started.elapsed());
    silent.write(&request[request.len() - 2..]);
    assert_eq!(silent.reply(false).status, 200, "a body has more time");
    drop(silent);
    assert_eq!(server.get("").status, 200);
}

#[test]
fn requests_follow_each_other_on_a_connection() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let session = server.session();
    let mut client = server.connect();
    let info = server.get("api/info").body;
    for _ in 0..3 {
        client.write(&server.request("GET", "api/info", "", b""));
        let reply = client.reply(false);
        assert_eq!((reply.status, reply.header("connection")), (200, "keep-alive"));
        assert!(reply.body == info);
    }
    // Sent all at once, answered in order; one that is not there ends nothing.
    let requests = [
        server.request("HEAD", "api/info", "", b""),
        server.request("POST", &format!("{session}/call"), "", b"{\"do\":\"scenes\"}"),
        server.request("GET", "nothing", "", b""),
        server.request("GET", "", "", b""),
        server.request("DELETE", &session, "", b""),
        server.request("GET", "api/info", "Connection: close\r\n", b""),
    ];
    client.write(&requests.concat());
    let statuses: Vec<u16> = (0..6).map(|i| client.reply(i == 0).status).collect();
    assert_eq!(statuses, [200, 200, 404, 200, 200, 200]);
    assert!(client.is_closed(), "as it was asked to");
    let old = server.raw(format!("GET /{}/ HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", server.token, server.port));
    assert_eq!((old.status, old.header("connection")), (200, "close"));
}

#[test]
fn noise_is_survived() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let mut random = Random::<[f64; 3]>::new(7);
    for round in 0..200 {
        let mut bytes = server.request("POST", "api/live/1/call", "Range: bytes=0-1\r\n", b"{}");
        if round % 2 == 0 {
            bytes = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        }
        for _ in 0..random.below(8) {
            let at = random.below(bytes.len() as u32 + 1) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        server.connect().write(&bytes); // and leaves
    }
    let reply = server.get("");
    assert_eq!(reply.status, 200);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn too_many_connections_are_turned_away() {
    let place = Place::empty();
    let server = Server::start(&place, "");
    let mut waiting: Vec<_> = (0..128).map(|_| server.connect()).collect();
    for client in &mut waiting {
        client.write(&server.request("GET", "api/info", "", b""));
        assert_eq!(client.reply(false).status, 200);
    }
    assert_eq!(server.connect().reply(false).status, 503);
    drop(waiting);
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.get("").status != 200 {
        assert!(Instant::now() < deadline, "there is room again");
    }
}

#[test]
fn ctrl_c_ends_it_well_whatever_is_open() {
    let place = Place::empty();
    for name in ["INT", "TERM"] {
        let mut server = Server::start(&place, "");
        let _idle = server.connect();
        let mut half = server.connect();
        half.write(b"GET /");
        server.session();
        signal(&server.child, name);
        let status = server.child.wait().expect("an end");
        assert_eq!(status.code(), Some(0), "{name}");
        let mut error = String::new();
        server.child.stderr.take().expect("an output").read_to_string(&mut error).expect("text");
        assert_eq!(error, "", "{name}");
    }
}

#[test]
fn a_port_in_use_is_told() {
    let place = Place::empty();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let said = place.run(&format!("view --no-browser --port {port}"));
    let expected =
        format!("error: cannot listen on 127.0.0.1:{port}: address already in use; choose another --port, or none\n");
    assert_eq!((said.code, said.err), (Some(1), expected));
    drop(taken);
    let server = Server::start(&place, &format!("--port {port}"));
    assert_eq!(server.port, port);
}

#[test]
fn a_browser_is_opened_where_there_is_one() {
    let place = Place::new();
    place.write("bin/xdg-open", "#!/bin/sh\nprintf '%s' \"$1\" >opened.partial\nmv opened.partial opened\n");
    fs::set_permissions(place.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).expect("permissions");
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").expect("a path"));
    let start = |words: &str, display: &str| {
        let mut command = place.command(words);
        command.env("PATH", &path).env("DISPLAY", display).env_remove("WAYLAND_DISPLAY");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let end = |child: std::process::Child| {
        signal(&child, "INT");
        let said = said(child.wait_with_output().expect("an end"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        (said.out, said.err)
    };
    let is_opened = || place.path("opened").exists();

    let mut child = start("view tiny.toml", ":9");
    wait_until(&mut child, is_opened);
    let address = place.text("opened");
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    assert_eq!(end(child), (format!("{address}\n"), "serving this machine only; Ctrl-C ends it\n".to_owned()));

    fs::remove_file(place.path("opened")).expect("removed");
    let mut child = start("view tiny.toml --quiet", ":9");
    wait_until(&mut child, is_opened);
    assert_eq!(end(child), (String::new(), String::new()), "the browser has it");

    // Without a screen, and where none is wanted, the address is all there is.
    fs::remove_file(place.path("opened")).expect("removed");
    for (words, display) in [("view tiny.toml --quiet", ""), ("view tiny.toml --quiet --no-browser", ":9")] {
        let mut child = start(words, display);
        let mut first = [0; 1];
        child.stdout.as_mut().expect("an output").read_exact(&mut first).expect("something is said");
        let (rest, error) = end(child);
        assert_eq!(error, "");
        assert!(rest.starts_with("ttp://127.0.0.1:") && rest.lines().count() == 1, "{rest}");
        assert!(!is_opened(), "{words}");
    }
}

#[test]
fn what_is_wrong_with_a_scene_is_told_before_anything_is_served() {
    let place = Place::new();
    place.write("wrong.toml", format!("{TINY}radius = 2\n"));
    let [viewed, checked] = ["view wrong.toml --no-browser", "check wrong.toml"].map(|words| place.run(words));
    assert_eq!((viewed.code, &viewed.err), (Some(2), &checked.err));
    assert!(viewed.err.starts_with("wrong.toml:15:1: "), "{}", viewed.err);
    let said = place.run("view wrong.toml --no-browser --json");
    let error: Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!((said.code, &error["error"]["findings"][0]["line"]), (Some(2), &json!(15)));
}
