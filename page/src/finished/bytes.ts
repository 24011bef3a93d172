/** Files that are read in pieces: dropped on the page, or lying with the server. */

export interface Bytes {
  readonly name: string;
  readonly size: number;
  read(from: number, to: number): Promise<Uint8Array>;
  /** All of it as it is now: a file that a run still writes may have grown since its size was learnt. */
  whole?(): Promise<Uint8Array>;
}

export function fileBytes(file: File, name = file.name): Bytes {
  return {
    name,
    size: file.size,
    read: async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  };
}

/** A file of the opened run, by ranges, so that a huge one is never whole in memory. */
export function urlBytes(name: string, size: number): Bytes {
  const url = `api/files/${name.split("/").map(encodeURIComponent).join("/")}`;
  return {
    name,
    size,
    read: async (from, to) => {
      const response = await fetch(url, { headers: { Range: `bytes=${from}-${Math.min(to, size) - 1}` } });
      if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      // A host that knows no ranges sends the whole file.
      return response.status === 206 ? bytes : bytes.subarray(from, to);
    },
    whole: async () => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}

export async function readText(bytes: Bytes): Promise<string> {
  return new TextDecoder().decode(await (bytes.whole?.() ?? bytes.read(0, bytes.size)));
}

/** An object of a file; a fault names the file. */
export function readJson(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Error(`${name} is not a JSON object`);
}
