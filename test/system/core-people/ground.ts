import type { JsonObject } from "@bufbuild/protobuf";
import { vi } from "vitest";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import { post } from "../../support/mcp.js";
import { makeKeysOf } from "../../support/new-keys.js";
import type { Program } from "../../support/program.js";

// Six people, and an object of every kind: shared by its owner with three of the others, kept by its owner, of somebody
// else, and deleted.

/** The owner of all that is shared, three people with whom it is, and one with whom nothing is. */
export const PEOPLE = ["owner", "manage", "config", "view", "stranger"] as const;
export type Person = (typeof PEOPLE)[number];

/** Objects of one standing, by the tool that lists their kind: `list_agents` has the id of an agent. */
export type Ids = ReadonlyMap<string, string>;

/** What an answer says. */
export interface Answered {
  /** undefined for a refusal. */
  readonly result: JsonObject | undefined;
  /** Why it is refused. */
  readonly refusal: string;
  /** As it came. */
  readonly text: string;
}

/** People and what they have. */
export interface Ground {
  readonly shared: Ids;
  /** Shared too, and used by nothing. */
  readonly loose: Ids;
  /** Of the owner alone. */
  readonly kept: Ids;
  /** Of somebody whom nobody here knows. */
  readonly others: Ids;
  /** The owner's, once. */
  readonly deleted: Ids;
  /** In all that is not the stranger's to see, not anybody's but the owner's, and not anybody's here. */
  readonly marks: Readonly<Record<"shared" | "kept" | "others", string>>;
  readonly emails: Readonly<Record<Person, string>>;
  ask(who: Person | "somebody", tool: string, args: JsonObject): Promise<Answered>;
}

/** What an agent and an assignment are made of. */
interface Used {
  readonly of: Ids;
  readonly lists: readonly string[];
}

/** The lists of what an agent can have. */
const ATTACHED = [
  ...["list_integrations", "list_knowledge_bases", "list_variables", "list_skills"],
  ...["list_custom_tools", "list_mcp_servers"],
];

let made = 0;

/** Makes them, with nothing but tools. @param model answers with a question. */
export async function makeGround(program: Program, model: string): Promise<Ground> {
  const n = ++made;
  const { grpc_url: baseUrl, admin } = program.bootstrap;
  const users = connectClient(UserService, { baseUrl, apiKey: admin.api_key });
  const keys = new Map<string, string>();
  const emails = {} as Record<Person, string>;
  await Promise.all(
    [...PEOPLE, "somebody" as const].map(async (who) => {
      const email = `${who}-${n}@example.org`;
      await users.createUser({ email, name: `${who} ${n}` });
      keys.set(who, (await makeKeysOf(program, email, 1))[0] as string);
      if (who !== "somebody") emails[who] = email;
    }),
  );
  const ask: Ground["ask"] = async (who, tool, args) => {
    const url = `${program.baseUrl}/mcp/core`;
    const { body, text } = await post(url, keys.get(who)!, "tools/call", { name: tool, arguments: args });
    const { result, error } = body;
    if (error !== undefined) return { result: undefined, refusal: error.message, text };
    if (result?.isError) return { result: undefined, refusal: (result.content as { text: string }[])[0]!.text, text };
    return { result: result?.structuredContent as JsonObject, refusal: "", text };
  };
  const sharing = (["manage", "config", "view"] as const).map((tier) => ({ to: `user:${emails[tier]}`, tier }));
  const marks = { shared: `sharedmark${n}x`, kept: `keptmark${n}x`, others: `othersmark${n}x` };
  const make = new Maker(ask, model);
  const shared = await make.all("owner", marks.shared, { sharing });
  const [kept, loose, others, deleted] = await Promise.all([
    // What is kept uses what is shared, so that a refusal could name it.
    make.all("owner", marks.kept, {}, { of: shared, lists: ATTACHED }),
    make.all("owner", `${marks.shared}loose`, { sharing }, { of: shared, lists: ["list_integrations"] }),
    make.all("somebody", marks.others, {}),
    make.all("owner", `deletedmark${n}x`, {}),
  ]);
  await make.deleteAll("owner", deleted);
  return { shared, loose, kept, others, deleted, marks, emails, ask };
}

/** Makes one object of each kind. */
class Maker {
  constructor(
    private readonly ask: Ground["ask"],
    private readonly model: string,
  ) {}

  async #made(who: Person | "somebody", tool: string, args: JsonObject): Promise<string> {
    const { result, refusal } = await this.ask(who, tool, args);
    const object = Object.values(result ?? {}).find((value) => typeof value === "object") as JsonObject | undefined;
    if (typeof object?.id !== "string") throw new Error(`${tool} makes nothing: ${refusal}`);
    return object.id;
  }

  async all(who: Person | "somebody", mark: string, own: JsonObject, used?: Used): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    const named = { name: mark, description: `About ${mark}`, ...own };
    const make = async (list: string, tool: string, args: JsonObject): Promise<string> => {
      const id = await this.#made(who, tool, { ...named, ...args });
      ids.set(list, id);
      return id;
    };
    const model = { type: "openai", endpoint: this.model, models: ["mock"] };
    await make("list_integrations", "create_integration", model);
    const base = await make("list_knowledge_bases", "create_knowledge_base", {});
    await make("list_variables", "create_variable", { name: mark.toUpperCase(), value: mark });
    await make("list_skills", "create_skill", {
      ...{ instructions: `Say ${mark}.` },
      files: [{ path: "notes.md", text: `Notes of ${mark}` }],
    });
    await make("list_custom_tools", "create_custom_tool", {
      ...{ method: "get", url: `${this.model}/other` },
    });
    await make("list_mcp_servers", "create_mcp_server", { url: `${this.model}/mcp` });
    await make("list_prompts", "create_prompt", { template: `Say ${mark}.` });
    const resource_ids = used?.lists.map((list) => used.of.get(list)!) ?? ATTACHED.map((list) => ids.get(list)!);
    const agent = await make("list_agents", "create_agent", { resource_ids, instructions: `Ask about ${mark}.` });
    const agent_id = used?.of.get("list_agents") ?? agent;
    await make("list_assignments", "create_assignment", { agent_id, input: `Of ${mark}` });
    const document = { knowledge_base_id: base, name: mark, content: `What ${mark} says.` };
    ids.set("list_documents", await this.#made(who, "create_document", document));
    const run = await this.#made(who, "trigger_run", { agent_id: agent, input: `Of ${mark}` });
    ids.set("list_runs", run);
    await vi.waitFor(
      async () => {
        const { result: asked } = await this.ask(who, "get_run", { run_id: run });
        const { state, trace_id } = (asked as { run: JsonObject }).run;
        if (state !== "awaiting_input") throw new Error(`the run is ${state}: ${JSON.stringify(asked)}`);
        ids.set("inspect_agent_traces", String(trace_id));
        const { result: found } = await this.ask(who, "list_documents", { knowledge_base_id: base });
        const [{ state: read }] = (found as { documents: [JsonObject] }).documents;
        if (read !== "ready") throw new Error(`the document is ${read}`);
      },
      { timeout: 60_000, interval: 50 },
    );
    return ids;
  }

  /** A run has no end that deletes it. */
  async deleteAll(who: Person, ids: Ids): Promise<void> {
    for (const [list, id] of [...ids].reverse()) {
      if (list === "list_runs" || list === "inspect_agent_traces") continue;
      const noun = list.replace("list_", "").replace(/s$/, "");
      const args = { [`${noun}_id`]: id };
      const { refusal } = await this.ask(who, `delete_${noun}`, args);
      if (refusal !== "") throw new Error(`delete_${noun}: ${refusal}`);
    }
  }
}
