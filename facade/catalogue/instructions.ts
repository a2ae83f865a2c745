import { CORE, PLATFORMS } from "../../services/shared/platforms.js";

// What a model should know before it uses a server: read once per session by
// every client, so short. The tools say the rest themselves.

const PAGES =
  "Lists are paged: ask for few with page_size, go on with next_page_token, and fetch one object by its id for details. " +
  "A result with truncated: true was cut; its truncated_hint says how to get the rest. " +
  "A call can fail because of your user's own permissions on the platform; say so rather than trying other tools.";

const TEXTS = new Map<string, string>([...PLATFORMS, CORE].map(({ name, instructions }) => [name, instructions]));

/** The instructions of a server, at most 2 KB. */
export function instructionsOf(server: string): string {
  const text = TEXTS.get(server);
  return text === undefined ? PAGES : `${text} ${PAGES}`;
}
