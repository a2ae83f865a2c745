import type { Verb } from "../command.js";
import { offline } from "../offline.js";

/** The keys by which secrets are sealed in the store; on the machine where the data is. */
export const secrets: readonly Verb[] = [
  {
    verb: "rotate",
    doc: "Write a new sealing key before those in DATA_DIR/secrets-key. The next start encrypts everything with it; after that you can delete the other lines.",
    async run(session) {
      const { file, keys } = offline(["rotate-seal"], session.dataDir) as { file: string; keys: number };
      return { file, keys, next: "restart the service: it encrypts every data key with the new key" };
    },
  },
];
