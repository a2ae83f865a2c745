import type { Verb } from "../command.js";
import { offline } from "../offline.js";

/** The store itself; on the machine where the data is, while the service is stopped. */
export const store: readonly Verb[] = [
  {
    verb: "copy",
    doc: "Copy all records between the embedded store in DATA_DIR and MongoDB at MONGODB_URI, and compare them; stop every process of the service first. The target must be empty.",
    flags: { to: { doc: "The target.", required: true, choices: ["mongodb", "embedded"] } },
    async run(session, { flags }) {
      return offline(["copy-store", flags.to as string], session.dataDir);
    },
  },
];
