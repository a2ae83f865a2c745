import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { commentOf } from "../../../services/shared/tools/comments.js";
import type { Tool } from "../../../services/shared/tools/tools.js";
import { EXTENTS, type Known, plainRequest } from "./plain.js";

/** Calls a tool; its result, or undefined where it refuses. */
export type Ask = (tool: Tool, args: JsonObject) => Promise<unknown>;

/** Ids that the caller makes, and references that people give. */
const OWN = /^(request_id|ref_id|under_ref_id|external_id)$/;
const AN_ID = /(^|_)ids?$|^(agent|skill|prompt)$/;
const DEEPEST = 3;

/**
 * Finds ids for the arguments of tools where a model would: with the tools that
 * the comments of those arguments name.
 */
export class KnownIds {
  private readonly found = new Map<string, JsonValue | undefined>();

  constructor(
    private readonly tools: readonly Tool[],
    private readonly ask: Ask,
  ) {}

  /** What is known of a tool's arguments. */
  async of(tool: Tool, depth = DEEPEST): Promise<Known> {
    const fields = idFieldsIn(tool.method.input);
    for (const field of fields) {
      const name = this.keyOf(tool.server, field);
      if (!this.found.has(name)) this.found.set(name, depth === 0 ? undefined : await this.find(tool, field, depth));
      if (depth < DEEPEST && this.found.get(name) === undefined) this.found.delete(name);
    }
    return (field) => {
      const id = this.found.get(this.keyOf(tool.server, field));
      // A plain request leaves out what need not be given, so that it is not refused for what does not go together.
      return AN_ID.test(field.name) ? id : undefined;
    };
  }

  /** From now on ids are looked for again: something was deleted. */
  forget(): void {
    this.found.clear();
  }

  private keyOf(server: string, field: DescField): string {
    return `${server} ${field.name} ${commentOf(field)}`;
  }

  private async find(tool: Tool, field: DescField, depth: number): Promise<JsonValue | undefined> {
    const comment = commentOf(field);
    const givers = this.tools.filter(
      ({ server, name, readOnly }) =>
        readOnly &&
        server === tool.server &&
        (new RegExp(`\\b${name}\\b`).test(comment) || name === `list_${field.name}s`),
    );
    for (const giver of givers.filter(({ name }) => name !== tool.name)) {
      const known = await this.of(giver, depth - 1);
      for (const extent of EXTENTS.toReversed()) {
        const result = await this.ask(giver, plainRequest(giver.method.input, known, extent));
        const id = idIn(result, field.name.replace(/_ids?$/, ""), giver.name.startsWith("get_"));
        if (id !== undefined) return id;
      }
    }
    return undefined;
  }
}

function idFieldsIn(message: DescMessage, seen = new Set<DescMessage>()): DescField[] {
  if (seen.has(message)) return [];
  seen.add(message);
  return message.fields.flatMap((field) => {
    const own = AN_ID.test(field.name) && !OWN.test(field.name) && field.message === undefined ? [field] : [];
    return field.message === undefined ? own : [...own, ...idFieldsIn(field.message, seen)];
  });
}

/**
 * The first id in a result that is the caller's own, if any is: by its name, of
 * what is named so, or of any row.
 */
function idIn(result: unknown, noun: string, isOne: boolean): string | undefined {
  const all = [...idsIn(result, "")];
  const names = [`${noun}_id`, noun, `${noun}s`, `${noun.replace(/y$/, "ie")}s`];
  const named = all.filter(({ under, member }) => names.includes(under) || names.includes(member));
  const ids = (named.length > 0 || isOne ? named : all).map(({ id }) => id);
  return ids.find((id) => !id.startsWith("builtin.")) ?? ids[0];
}

interface Found {
  /** The member that the object with the id is in. */
  readonly under: string;
  readonly member: string;
  readonly id: string;
}

function* idsIn(result: unknown, under: string): Iterable<Found> {
  if (typeof result !== "object" || result === null) return;
  for (const [member, value] of Object.entries(result)) {
    if (typeof value === "string") {
      if (member === "id" || member.endsWith("_id")) yield { under, member, id: value };
    } else yield* idsIn(value, Array.isArray(result) ? under : member);
  }
}
