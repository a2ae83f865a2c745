/** What can be told apart in a text: an object's id, and its name where no other object has it. */
export interface Known {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** Shorter names are words that stand in any text. */
const MIN_NAME = 8;

/**
 * The ids and names of objects that a text holds and its reader may not see.
 *
 * @param all every object there is.
 * @param visible the objects that the reader may see, as the platform itself told that person.
 */
export function leaksIn(text: string, all: Iterable<Known>, visible: Iterable<Known>): string[] {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const { id, name } of visible) {
    ids.add(id);
    if (name) names.add(name);
  }
  const found = new Set<string>();
  const seenNames = [...names].join("\n");
  for (const { id, name } of all) {
    if (ids.has(id)) continue;
    if (text.includes(id)) found.add(id);
    if (name && name.length >= MIN_NAME && !seenNames.includes(name) && text.includes(name)) found.add(name);
  }
  return [...found];
}
