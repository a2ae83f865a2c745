import { readdirSync } from "node:fs";
import { join } from "node:path";

const NAME = /^[a-z_]+\.[01]\.journal$/;

/** The paths of the journal of a collection in the folder of its environment. */
export function journalPaths(folder: string, collection: string): readonly [string, string] {
  return [join(folder, `${collection}.0.journal`), join(folder, `${collection}.1.journal`)];
}

/** Whether a file of an environment is one of a journal, by its name. */
export function isJournalName(name: string): boolean {
  return NAME.test(name);
}

/** The names of the files of journals in the folder of an environment. */
export function journalsIn(folder: string): string[] {
  return readdirSync(folder).filter(isJournalName).sort();
}
