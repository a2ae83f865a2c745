import { createHash, randomUUID } from "node:crypto";
import { type Body, objectOf, shortTextOf, tagsOf, textsOf } from "../input.js";
import type { Entry, Json, Values } from "../kinds/kind.js";
import { shelfOf } from "../kinds/shelf.js";
import { Bare, notFound, ok, type Reply } from "../replies.js";
import { type Actor, holds, need } from "../rights.js";
import type { World } from "../world.js";
import type { Route } from "./route.js";

const ids = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

/** Files: how they are uploaded, changed, read, and what uses them. */
export function documentRoutes(world: World): Route[] {
  const documents = shelfOf(world, "documents");
  const files = shelfOf(world, "files");
  const byId = (id: string): Entry => {
    const entry = documents.get(id);
    if (entry === undefined) throw notFound("Document not found");
    return entry;
  };
  const keep = (entry: Entry): Reply => {
    documents.put(entry);
    return ok(shown(entry));
  };

  return [
    {
      method: "POST",
      path: "/documents",
      answer: ({ actor, body, now }) => {
        need(holds(actor, "MANAGE_DOCUMENTS"));
        // A body that is no form fails.
        if (!(body instanceof FormData)) throw new Bare(500);
        const { input, name, type, bytes } = partsOf(body);
        const target = `${createHash("md5").update(bytes).digest("hex")}.${/\.([^.]*)$/.exec(name)?.[1] ?? ""}`;
        const same = documents
          .all()
          .find(({ tenant, values }) => tenant === actor.tenant && values.document_target === target);
        const tags = tagsOf(world, actor.tenant, input, "document_tags");
        const links = linksIn(world, input);
        if (same !== undefined) return keep({ ...same, values: merged(same.values, tags, links) });
        const content = Buffer.from(bytes).toString("base64");
        files.put({
          id: `${actor.tenant}/${target}`,
          tenant: actor.tenant,
          values: { content },
          createdAt: now,
          updatedAt: now,
        });
        const values = {
          document_name: name,
          document_target: target,
          document_description: shortTextOf(input, "document_description"),
          document_type: type,
          document_tags: tags,
          ...links,
        };
        return keep({ id: randomUUID(), tenant: actor.tenant, values, createdAt: now, updatedAt: now });
      },
    },
    {
      method: "PUT",
      path: "/documents/{id}",
      answer: ({ actor, ids: [id = ""], body }) => {
        need(holds(actor, "MANAGE_DOCUMENTS"));
        const input = objectOf(body);
        const before = byId(id);
        if (before.tenant !== actor.tenant || input.document_tags === undefined) throw new Bare(500);
        const links = linksIn(world, input);
        const values = {
          ...before.values,
          document_description: shortTextOf(input, "document_description"),
          document_tags: tagsOf(world, actor.tenant, input, "document_tags"),
          document_scenarios: left(actor, before.values.document_scenarios, links.document_scenarios),
          document_exercises: left(actor, before.values.document_exercises, links.document_exercises),
        };
        return keep({ ...before, values });
      },
    },
    {
      method: "GET",
      path: "/documents/{id}/file",
      answer: ({ actor, ids: [id = ""] }) => {
        need(holds(actor, "ACCESS_DOCUMENTS"));
        const { tenant, values } = byId(id);
        const stored = files.get(`${tenant}/${values.document_target}`)?.values.content;
        const body =
          stored === undefined
            ? Buffer.from(`The file ${values.document_name}\n`)
            : Buffer.from(String(stored), "base64");
        return { status: 200, body, file: String(values.document_type) };
      },
    },
    {
      method: "GET",
      path: "/documents/{id}/relations",
      answer: ({ actor, ids: [id = ""] }) => {
        need(holds(actor, "ACCESS_DOCUMENTS"));
        byId(id);
        const of = (path: string, key: string) =>
          shelfOf(world, path)
            .all()
            .filter(({ values }) => ids(values[key]).includes(id));
        const articles = of("articles", "article_documents").map(({ id: article, values }) => ({
          id: article,
          name: values.article_name,
          context: values.article_scenario ?? values.article_exercise,
          isOfScenario: values.article_scenario !== null,
        }));
        const below = (isOfScenario: boolean) =>
          articles.filter((one) => one.isOfScenario === isOfScenario).map(({ isOfScenario: _, ...one }) => one);
        const challenges = of("challenges", "challenge_documents").map((one) => ({
          id: one.id,
          name: one.values.challenge_name,
        }));
        const relations = { scenarioArticles: below(true), simulationArticles: below(false), challenges };
        return ok(Object.fromEntries(Object.entries(relations).filter(([, some]) => some.length > 0)));
      },
    },
  ];
}

/** @throws Bare 400 where a part is missing. */
function partsOf(form: FormData) {
  const [given, file] = [form.get("input"), form.get("file")];
  if (given === null || file === null || typeof file === "string") throw new Bare(400);
  const { name, type } = file;
  return { input: inputs.get(form) ?? {}, name, type, bytes: contents.get(form) ?? new Uint8Array() };
}

/** What the parts of a form hold, read when it came in. */
const inputs = new WeakMap<FormData, Body>();
const contents = new WeakMap<FormData, Uint8Array>();

/** Reads the parts of an upload. @throws Bare 400 for an input that is no JSON object. */
export async function readForm(form: FormData): Promise<FormData> {
  const [given, file] = [form.get("input"), form.get("file")];
  const text = given === null ? "{}" : typeof given === "string" ? given : await given.text();
  try {
    inputs.set(form, objectOf(JSON.parse(text)));
  } catch {
    throw new Bare(400);
  }
  if (file !== null && typeof file !== "string") contents.set(form, new Uint8Array(await file.arrayBuffer()));
  return form;
}

/** The scenarios and simulations that exist; others are dropped without a word. */
function linksIn({ scenarios, simulations }: World, input: Body) {
  return {
    document_scenarios: textsOf(input, "document_scenarios").filter((id) => scenarios.has(id)),
    document_exercises: textsOf(input, "document_exercises").filter((id) => simulations.has(id)),
  };
}

/** Of the same content: more labels, and more links of a kind of which it has some. */
function merged(before: Values, tags: readonly string[], links: ReturnType<typeof linksIn>): Values {
  const more = (key: keyof typeof links) =>
    ids(before[key]).length === 0 ? [] : [...new Set([...ids(before[key]), ...links[key]])];
  return {
    ...before,
    document_tags: [...new Set([...ids(before.document_tags), ...tags])],
    document_scenarios: more("document_scenarios"),
    document_exercises: more("document_exercises"),
  };
}

/** Links to what somebody has no grant on stay, whatever is asked; an administrator has one on everything. */
function left({ user }: Actor, had: Json | undefined, asked: readonly string[]): string[] {
  const isGranted = (id: string) => user.admin || ["OBSERVER", "PLANNER"].includes(user.grants.get(id) ?? "");
  return [...new Set([...ids(had).filter((id) => !isGranted(id)), ...asked])];
}

function shown({ id, values }: Entry): Values {
  return {
    listened: true,
    document_id: id,
    document_name: values.document_name ?? null,
    document_target: values.document_target ?? null,
    document_description: values.document_description ?? null,
    document_type: values.document_type ?? null,
    document_tags: ids(values.document_tags),
    document_exercises: ids(values.document_exercises),
    document_scenarios: ids(values.document_scenarios),
  };
}
