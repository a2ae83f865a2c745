import type { RootDatabase } from "lmdb";

/** How lmdb reads: everything else that reads goes by these. All databases of an environment have them of one prototype. */
const READS = [
  "get",
  "getBinary",
  "getBinaryFast",
  "getString",
  "getEntry",
  "doesExist",
  "getRange",
  "getKeys",
  "getStats",
];

/**
 * Closes an environment; who reads it from now on, or while its last writes are
 * flushed, is told so. lmdb gives its read transaction back as soon as it begins
 * to close, and would read on in the memory that it had: whatever stands there
 * then, an error without sense, or a SIGBUS or SIGSEGV of the whole process.
 */
export async function closeEnvironment(root: RootDatabase): Promise<void> {
  const prototype: object = Object.getPrototypeOf(root);
  for (const name of READS) Object.defineProperty(prototype, name, { value: refuse });
  await root.close();
}

function refuse(): never {
  throw new Error("the store is closed");
}
