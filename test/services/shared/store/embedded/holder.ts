import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";

// Run as a process of its own: opens the directory, says what came of it, and
// holds it until its standard input ends.

try {
  const store = await openEmbeddedStore(process.argv[2] as string);
  process.stdout.write("open\n");
  process.stdin.resume().once("end", () => store.close());
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
}
