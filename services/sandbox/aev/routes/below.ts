import { randomUUID } from "node:crypto";
import { type Body, isBlank, objectOf, textOf, textsOf } from "../input.js";
import type { Entry, Json, Values } from "../kinds/kind.js";
import { type Shelf, shelfOf } from "../kinds/shelf.js";
import { Bare, invalid, notFound, ok } from "../replies.js";
import { type Actor, may, need } from "../rights.js";
import { iso } from "../views/scenarios.js";
import { rowsOf, type World } from "../world.js";
import type { Route } from "./route.js";

/** A scenario or simulation, by what the platform calls it in paths and in fields. */
type Side = readonly [path: "scenarios" | "exercises", field: "scenario" | "exercise"];
const SIDES: readonly Side[] = [
  ["scenarios", "scenario"],
  ["exercises", "exercise"],
];
const SECTIONS =
  "MAIN_INFORMATION SCORE_DETAILS INJECT_RESULT GLOBAL_OBSERVATION PLAYER_SURVEYS EXERCISE_DETAILS".split(" ");
const BLANK = "This value should not be blank.";

/** @throws Bare 403. */
export function needPlan(actor: Actor, id: string, right: "ACCESS" | "MANAGE"): void {
  need(may(actor, `${right}_ASSESSMENT`, id, right === "ACCESS" ? "OBSERVER" : "PLANNER"));
}

/** What lies below scenarios and simulations: articles, challenges, reports. */
export function belowRoutes(world: World): Route[] {
  return [...SIDES.flatMap((side) => articleRoutes(world, side)), ...reportRoutes(world)];
}

/** An article may be named below any scenario: the platform does not look whose it is. */
function articleRoutes(world: World, [path, field]: Side): Route[] {
  const articles = shelfOf(world, "articles");
  const channels = shelfOf(world, "channels");
  const plans = path === "scenarios" ? world.scenarios : world.simulations;
  const valuesOf = (body: unknown): Values => {
    const input = objectOf(body);
    needTexts(input, ["article_name", "article_channel"], path === "scenarios");
    const channel = textOf(input, "article_channel");
    if (channels.get(channel ?? "") === undefined) throw notFound(null);
    const documents = shelfOf(world, "documents");
    return {
      article_name: textOf(input, "article_name"),
      article_content: textOf(input, "article_content"),
      article_author: textOf(input, "article_author"),
      article_shares: (input.article_shares as Json | undefined) ?? null,
      article_likes: (input.article_likes as Json | undefined) ?? null,
      article_comments: (input.article_comments as Json | undefined) ?? null,
      article_channel: channel,
      article_documents: textsOf(input, "article_documents").filter((id) => documents.get(id) !== undefined),
    };
  };
  const root = `/${path}/{id}/articles`;
  return [
    {
      method: "GET",
      path: root,
      answer: ({ actor, ids: [id = ""], now }) => {
        needPlan(actor, id, "ACCESS");
        const here = articles
          .all()
          .filter(({ values }) => values[`article_${field}`] === id && channels.get(String(values.article_channel)));
        const told = (entry: Entry) => publicationOf(world, path === "exercises" ? id : "", entry.id, now);
        return ok(here.map((entry) => ({ ...articleView(entry, false), ...told(entry) })));
      },
    },
    {
      method: "GET",
      path: `/${path}/{id}/challenges`,
      answer: ({ actor, ids: [id = ""] }) => {
        needPlan(actor, id, "ACCESS");
        return ok([]);
      },
    },
    {
      method: "POST",
      path: root,
      answer: ({ actor, ids: [id = ""], body, now }) => {
        needPlan(actor, id, "MANAGE");
        const values = valuesOf(body);
        if (!plans.has(id)) throw notFound(path === "scenarios" ? "Scenario not found" : null);
        const parents = { article_scenario: null, article_exercise: null, [`article_${field}`]: id };
        const entry = made(articles, actor, { ...values, ...parents }, now);
        return ok(articleView(entry, true));
      },
    },
    {
      method: "PUT",
      path: `${root}/{article}`,
      answer: ({ actor, ids: [id = "", article = ""], body, now }) => {
        needPlan(actor, id, "MANAGE");
        const values = valuesOf(body);
        const before = articles.get(article);
        if (before === undefined) throw notFound(null);
        const entry = { ...before, values: { ...before.values, ...values }, updatedAt: now };
        articles.put(entry);
        return ok(articleView(entry, true));
      },
    },
    {
      method: "DELETE",
      path: `${root}/{article}`,
      answer: ({ actor, ids: [id = "", article = ""] }) => {
        needPlan(actor, id, "MANAGE");
        articles.delete(article);
        return ok();
      },
    },
  ];
}

/** When an inject of a simulation publishes an article: after its start, or after now where it has not started. */
function publicationOf(world: World, id: string, article: string, now: number): Values {
  const simulation = world.simulations.get(id);
  const injects = rowsOf(world.injects, simulation?.injects ?? []);
  const publishing = injects.find((one) => (one.details?.content?.articles as string[] | undefined)?.includes(article));
  if (simulation === undefined || publishing === undefined) return {};
  const start = simulation.status === "SCHEDULED" ? now : (simulation.start ?? now);
  return {
    article_virtual_publication: iso(start + publishing.delaySeconds * 1_000),
    article_is_scheduled: true,
  };
}

function articleView({ id, values, createdAt, updatedAt }: Entry, isWritten: boolean): Values {
  return {
    ...(isWritten && { listened: true, article_created_at: iso(createdAt), article_updated_at: iso(updatedAt) }),
    article_id: id,
    ...values,
    article_virtual_publication: null,
    article_is_scheduled: false,
  };
}

/** All that is done to reports needs no more than reading the simulation, which is not compared with theirs. */
function reportRoutes(world: World): Route[] {
  const reports = shelfOf(world, "reports");
  const byId = (id: string): Entry => {
    const entry = reports.get(id);
    if (entry === undefined) throw notFound(null);
    return entry;
  };
  const written = (body: unknown, before: Values): Values => {
    const input = objectOf(body);
    needTexts(input, ["report_name"], false);
    const given = input.report_informations;
    // It goes through what is not there.
    if (!Array.isArray(given)) throw new Bare(500);
    const kept = new Map((before.report_informations as Values[]).map((one) => [one.report_informations_type, one]));
    for (const { report_informations_type: type, report_informations_display: display } of given as Values[]) {
      if (!SECTIONS.includes(String(type))) throw new Bare(400);
      kept.set(type as Json, {
        ...(kept.get(type as Json) ?? { id: randomUUID() }),
        listened: true,
        report_informations_type: type as Json,
        report_informations_display: display as Json,
      });
    }
    return {
      ...before,
      report_name: textOf(input, "report_name"),
      report_global_observation: textOf(input, "report_global_observation"),
      report_informations: [...kept.values()],
    };
  };
  const root = "/exercises/{id}/reports";
  return [
    {
      method: "GET",
      path: root,
      answer: ({ actor, ids: [id = ""] }) => {
        needPlan(actor, id, "ACCESS");
        return ok(
          reports
            .all()
            .filter(({ values }) => values.report_exercise === id)
            .map(reportView),
        );
      },
    },
    {
      method: "POST",
      path: root,
      answer: ({ actor, ids: [id = ""], body, now }) => {
        needPlan(actor, id, "ACCESS");
        if (!world.simulations.has(id)) throw notFound("Exercise not found");
        const empty = { report_exercise: id, report_informations: [], report_injects_comments: [] };
        return ok(reportView(made(reports, actor, written(body, empty), now)));
      },
    },
    {
      method: "PUT",
      path: `${root}/{report}`,
      answer: ({ actor, ids: [id = "", report = ""], body, now }) => {
        needPlan(actor, id, "ACCESS");
        const before = byId(report);
        const entry = { ...before, values: written(body, before.values), updatedAt: now };
        reports.put(entry);
        return ok(reportView(entry));
      },
    },
    {
      method: "DELETE",
      path: `${root}/{report}`,
      answer: ({ actor, ids: [id = "", report = ""] }) => {
        needPlan(actor, id, "ACCESS");
        byId(report);
        reports.delete(report);
        return ok();
      },
    },
  ];
}

function reportView({ id, values, createdAt, updatedAt }: Entry): Values {
  const times = { report_created_at: iso(createdAt), report_updated_at: iso(updatedAt) };
  const sections = (values.report_informations as Values[]).map((section) => ({ ...section, report: id }));
  return { listened: true, report_id: id, ...values, report_informations: sections, ...times };
}

/** Keeps a new object. */
export function made(shelf: Shelf, { tenant }: Actor, values: Values, now: number): Entry {
  const entry = { id: randomUUID(), tenant, values, createdAt: now, updatedAt: now };
  shelf.put(entry);
  return entry;
}

/** @throws Refusal or Bare 400 where one is missing or blank. */
export function needTexts(input: Body, names: readonly string[], silent: boolean): void {
  const missing = names.filter((name) => isBlank(textOf(input, name) ?? ""));
  if (missing.length === 0) return;
  throw silent ? new Bare(400) : invalid(Object.fromEntries(missing.map((name) => [name, BLANK])));
}
