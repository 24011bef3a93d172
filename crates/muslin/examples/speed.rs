//! scratch
use muslin::Simulation;
use std::time::Instant;
fn main() {
    let n: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let threads: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let frames: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let bend = std::env::args().nth(4).unwrap_or("{model=\"distance\",compliance=1e-4}".into());
    let text = format!(
        "[[cloth]]\ngrid={{size=[1,1],cells=[{c},{c}]}}\nmaterial={{stretch={{model=\"spring\",compliance=0}},bend={bend}}}\npins=[{{select=\"corners\"}}]\n",
        c = n - 1
    );
    let o = muslin::scene::parse(&text, &[]);
    for f in &o.findings {
        println!("{}", f.display("x"));
    }
    let scene = o.scene.unwrap();
    let t = Instant::now();
    let mut sim = Simulation::new(&scene, threads, &mut |_| Err("no".into())).unwrap();
    println!("setup {:?}", t.elapsed());
    let elements: usize = sim.model().terms.iter().map(|t| t.element_count()).sum();
    for t in &sim.model().terms {
        println!("{} {} elements {} colors", t.name(), t.element_count(), t.color_count());
    }
    sim.advance().unwrap();
    let mut best = f64::MAX;
    for _ in 0..frames {
        let t = Instant::now();
        sim.advance().unwrap();
        best = best.min(t.elapsed().as_secs_f64());
    }
    let d = sim.diagnose();
    println!(
        "{n} x{threads}: {:.1} M proj/s, {:.2} ms/frame strain {:.3} hash {:x}",
        elements as f64 * 20.0 / best / 1e6,
        best * 1e3,
        d.max_strain,
        sim.state().hash()
    );
}
