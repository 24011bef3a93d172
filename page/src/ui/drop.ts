/** Files that are dropped or chosen: finished runs, and scenes with their meshes. */
import { fileBytes, readJson, type Bytes } from "../finished/bytes";

export interface Found {
  runs: { name: string; files: Bytes[] }[];
  scene?: { name: string; toml: string; files: Map<string, Uint8Array> };
}

interface Named {
  path: string;
  file: File;
}

export async function filesOf(transfer: DataTransfer): Promise<Named[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry): entry is FileSystemEntry => !!entry);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ path: file.name, file }));
  const found: Named[] = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

async function walk(entry: FileSystemEntry, into: Named[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A folder is given in portions, and an empty one is the last.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const child of part) await walk(child, into);
  }
}

/** Throws an Error that says what the page reads. */
export async function sortOut(files: Named[]): Promise<Found> {
  const folder = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
  const homes = new Set(files.filter((f) => f.path.endsWith("report.json")).map((f) => folder(f.path)));
  if (homes.size === 0) for (const f of files) if (f.path.endsWith(".npy")) homes.add(folder(f.path));
  const runs: Found["runs"] = [];
  for (const home of homes) {
    const own = files.filter((f) => f.path.startsWith(home));
    runs.push({ name: await nameOf(home, own), files: own.map((f) => fileBytes(f.file, f.path.slice(home.length))) });
  }
  if (runs.length > 0) return { runs };
  const toml = files.find((f) => f.path.endsWith(".toml"));
  if (!toml) throw new Error("The page opens a folder of a run, a .npy with its .obj, or a scene .toml with its meshes; there is none of them here.");
  const home = folder(toml.path);
  const meshes = new Map<string, Uint8Array>();
  for (const f of files) {
    if (f !== toml && f.path.startsWith(home)) meshes.set(f.path.slice(home.length), new Uint8Array(await f.file.arrayBuffer()));
  }
  return { runs: [], scene: { name: toml.file.name.replace(/\.toml$/, ""), toml: await toml.file.text(), files: meshes } };
}

/** The folder's, else what the report says, else that of the array. */
async function nameOf(home: string, own: Named[]): Promise<string> {
  const folder = home.split("/").filter(Boolean).at(-1);
  if (folder) return folder;
  const report = own.find((f) => f.path === "report.json");
  if (report) {
    const scene = readJson(await report.file.text(), "report.json")["scene"];
    if (typeof scene === "string") return scene;
  }
  return own.find((f) => f.path.endsWith(".npy"))?.file.name.replace(/\.npy$/, "") ?? "run";
}
