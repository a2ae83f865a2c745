import { fromBuffer } from "yauzl";

/** Reads a zip strictly, as hosts of desktop extensions do. @returns its files by path, in the order of the zip. */
export function unzip(bytes: Uint8Array): Promise<Map<string, Buffer>> {
  return new Promise((resolve, reject) => {
    fromBuffer(
      Buffer.from(bytes),
      { lazyEntries: true, strictFileNames: true, validateEntrySizes: true },
      (error, zip) => {
        if (error) return reject(error);
        const files = new Map<string, Buffer>();
        zip.on("error", reject);
        zip.on("end", () => resolve(files));
        zip.on("entry", (entry) =>
          zip.openReadStream(entry, async (fault, stream) => {
            if (fault) return reject(fault);
            const pieces: Buffer[] = [];
            for await (const piece of stream) pieces.push(piece as Buffer);
            files.set(entry.fileName, Buffer.concat(pieces));
            zip.readEntry();
          }),
        );
        zip.readEntry();
      },
    );
  });
}
