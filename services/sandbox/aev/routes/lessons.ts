import { objectOf, textOf, textsOf } from "../input.js";
import type { Entry, Values } from "../kinds/kind.js";
import { shelfOf } from "../kinds/shelf.js";
import { Bare, notFound, ok } from "../replies.js";
import { type Actor, holds, need } from "../rights.js";
import { iso } from "../views/scenarios.js";
import { rowsOf, type World } from "../world.js";
import { made, needPlan, needTexts } from "./below.js";
import type { Route } from "./route.js";

/** A mail to a player. */
export interface Mail {
  readonly user: string;
  readonly subject: string;
  readonly body: string;
}

/**
 * Lessons learned: what is in templates, and what scenarios and simulations ask.
 *
 * @param mails takes what is sent.
 */
export function lessonsRoutes(world: World, mails: Mail[]): Route[] {
  return [
    ...templateRoutes(world),
    ...planRoutes(world, mails, "scenarios", "scenario"),
    ...planRoutes(world, mails, "exercises", "exercise"),
  ];
}

const MAX_MAILS = 1_000;
const CATEGORIES = "/lessons_templates/{id}/lessons_template_categories";
const QUESTIONS = `${CATEGORIES}/{category}/lessons_template_questions`;
const readable = (actor: Actor) => need(holds(actor, "ACCESS_LESSONS_LEARNED"));
const writable = (actor: Actor) => need(holds(actor, "MANAGE_LESSONS_LEARNED"));

function templateRoutes(world: World): Route[] {
  const templates = shelfOf(world, "lessons_templates");
  const categories = shelfOf(world, "lessons_template_categories");
  const questions = shelfOf(world, "lessons_template_questions");
  /** What is deleted with its template or category is not there any more. */
  const questionsOf = (category: string) =>
    questions.all().filter(({ values }) => values.lessons_template_question_category === category);
  const categoriesOf = (template: string) =>
    templates.get(template) === undefined
      ? []
      : categories.all().filter(({ values }) => values.lessons_template_category_template === template);
  const categoryView = (entry: Entry) => ({
    ...viewOf(entry, "lessonstemplatecategory_id", "lessons_template_category"),
    lessons_template_category_questions: questionsOf(entry.id).map(({ id }) => id),
  });
  const questionView = (entry: Entry) => viewOf(entry, "lessonstemplatequestion_id", "lessons_template_question");
  const found = (entry: Entry | undefined): Entry => {
    if (entry === undefined) throw notFound(null);
    return entry;
  };

  return [
    {
      method: "GET",
      path: CATEGORIES,
      answer: ({ actor, ids: [id = ""] }) => {
        readable(actor);
        return ok(categoriesOf(id).map(categoryView));
      },
    },
    {
      method: "POST",
      path: CATEGORIES,
      answer: ({ actor, ids: [id = ""], body, now }) => {
        writable(actor);
        const values = textsIn(body, "lessons_template_category", ["name", "description"], "name");
        found(templates.get(id));
        return ok(categoryView(made(categories, actor, { ...values, lessons_template_category_template: id }, now)));
      },
    },
    {
      method: "PUT",
      path: `${CATEGORIES}/{category}`,
      answer: ({ actor, ids: [, category = ""], body, now }) => {
        writable(actor);
        const values = textsIn(body, "lessons_template_category", ["name", "description"], "name");
        const before = found(categories.get(category));
        const entry = { ...before, values: { ...before.values, ...values }, updatedAt: now };
        categories.put(entry);
        return ok(categoryView(entry));
      },
    },
    {
      method: "DELETE",
      path: `${CATEGORIES}/{category}`,
      answer: ({ actor, ids: [, category = ""] }) => {
        writable(actor);
        // Its questions are not deleted with it, and the database does not let them be without one.
        if (questionsOf(category).length > 0) throw new Bare(500);
        categories.delete(category);
        return ok();
      },
    },
    {
      method: "GET",
      path: "/lessons_templates/{id}/lessons_template_questions",
      answer: ({ actor, ids: [id = ""] }) => {
        readable(actor);
        return ok(categoriesOf(id).flatMap((category) => questionsOf(category.id).map(questionView)));
      },
    },
    {
      method: "POST",
      path: QUESTIONS,
      answer: ({ actor, ids: [, category = ""], body, now }) => {
        writable(actor);
        const values = textsIn(body, "lessons_template_question", ["content", "explanation"], "content");
        found(categories.get(category));
        const whole = { ...values, lessons_template_question_category: category };
        return ok(questionView(made(questions, actor, whole, now)));
      },
    },
    {
      method: "PUT",
      path: `${QUESTIONS}/{question}`,
      answer: ({ actor, ids: [, , question = ""], body, now }) => {
        writable(actor);
        const values = textsIn(body, "lessons_template_question", ["content", "explanation"], "content");
        const before = found(questions.get(question));
        const entry = { ...before, values: { ...before.values, ...values }, updatedAt: now };
        questions.put(entry);
        return ok(questionView(entry));
      },
    },
    {
      method: "DELETE",
      path: `${QUESTIONS}/{question}`,
      answer: ({ actor, ids: [, , question = ""] }) => {
        writable(actor);
        questions.delete(question);
        return ok();
      },
    },
  ];
}

function planRoutes(
  world: World,
  mails: Mail[],
  path: "scenarios" | "exercises",
  field: "scenario" | "exercise",
): Route[] {
  const plans = path === "scenarios" ? world.scenarios : world.simulations;
  const categories = shelfOf(world, "lessons_categories");
  const questions = shelfOf(world, "lessons_questions");
  const answers = shelfOf(world, "lessons_answers");
  const of = (id: string) => categories.all().filter(({ values }) => values[`lessons_category_${field}`] === id);
  const asked = (category: string) =>
    questions.all().filter(({ values }) => values.lessons_question_category === category);
  const teamsOf = ({ values }: Entry) => (values.lessons_category_teams as string[] | undefined) ?? [];
  const answered = (question: string) =>
    answers.all().filter(({ values }) => values.lessons_answer_question === question);
  const categoryView = (entry: Entry) => ({
    ...viewOf(entry, "lessonscategory_id", "lessons_category"),
    lessons_category_teams: teamsOf(entry),
    lessons_category_users: rowsOf(world.teams, teamsOf(entry)).flatMap(({ users }) => users),
    lessons_category_questions: asked(entry.id).map(({ id }) => id),
  });
  const questionView = (id: string) => (entry: Entry) => ({
    ...viewOf(entry, "lessonsquestion_id", "lessons_question"),
    lessons_question_answers: answered(entry.id).map((answer) => answer.id),
    lessons_question_scenario: field === "scenario" ? id : null,
    lessons_question_exercise: field === "exercise" ? id : null,
  });

  return [
    {
      method: "GET",
      path: `/${path}/{id}/lessons_categories`,
      answer: ({ actor, ids: [id = ""] }) => {
        needPlan(actor, id, "ACCESS");
        return ok(of(id).map(categoryView));
      },
    },
    {
      method: "GET",
      path: `/${path}/{id}/lessons_questions`,
      answer: ({ actor, ids: [id = ""] }) => {
        needPlan(actor, id, "ACCESS");
        return ok(of(id).flatMap((category) => asked(category.id).map(questionView(id))));
      },
    },
    {
      method: "GET",
      path: `/${path}/{id}/lessons_answers`,
      answer: ({ actor, ids: [id = ""], query }) => {
        needPlan(actor, id, "ACCESS");
        const user = query.get("userId");
        const all = of(id).flatMap((category) => asked(category.id).flatMap((question) => answered(question.id)));
        const own = all.filter(({ values }) => user === null || values.lessons_answer_user === user);
        return ok(
          own.map((entry) => ({ ...viewOf(entry, "lessonsanswer_id", "lessons_answer"), lessons_answer_exercise: id })),
        );
      },
    },
    {
      method: "PUT",
      path: `/${path}/{id}/lessons_categories/{category}/teams`,
      answer: ({ actor, ids: [id = "", category = ""], body, now }) => {
        needPlan(actor, id, "MANAGE");
        const before = categories.get(category);
        if (before === undefined) throw notFound(null);
        // Of any tenant, and those that there are not are dropped.
        const teams = textsOf(objectOf(body), "lessons_category_teams").filter((team) => world.teams.has(team));
        const entry = { ...before, values: { ...before.values, lessons_category_teams: teams }, updatedAt: now };
        categories.put(entry);
        return ok(categoryView(entry));
      },
    },
    ...(path === "scenarios" ? [] : [sendRoute(world, mails, of, teamsOf)]),
    {
      method: "POST",
      path: `/${path}/{id}/lessons_apply_template/{template}`,
      answer: ({ actor, ids: [id = "", template = ""], now }) => {
        needPlan(actor, id, "MANAGE");
        if (!plans.has(id) || shelfOf(world, "lessons_templates").get(template) === undefined) throw notFound(null);
        const own = shelfOf(world, "lessons_template_categories")
          .all()
          .filter(({ values }) => values.lessons_template_category_template === template);
        for (const category of own) {
          const { id: copy } = made(
            categories,
            actor,
            copyOf(category, "category", { [`lessons_category_${field}`]: id }),
            now,
          );
          const items = shelfOf(world, "lessons_template_questions")
            .all()
            .filter(({ values }) => values.lessons_template_question_category === category.id);
          for (const item of items) {
            made(questions, actor, copyOf(item, "question", { lessons_question_category: copy }), now);
          }
        }
        return ok(of(id).map(categoryView));
      },
    },
  ];
}

/** It answers alike where nobody gets a mail. */
function sendRoute(
  world: World,
  mails: Mail[],
  of: (id: string) => Entry[],
  teamsOf: (entry: Entry) => string[],
): Route {
  return {
    method: "POST",
    path: "/exercises/{id}/lessons_send",
    answer: ({ actor, ids: [id = ""], body }) => {
      needPlan(actor, id, "MANAGE");
      if (!world.simulations.has(id)) throw notFound(null);
      const input = objectOf(body);
      needTexts(input, ["subject", "body"], false);
      const teams = rowsOf(world.teams, [...new Set(of(id).flatMap(teamsOf))]);
      for (const user of new Set(teams.flatMap(({ users }) => users))) {
        if (mails.length >= MAX_MAILS) mails.shift();
        mails.push({ user, subject: textOf(input, "subject") ?? "", body: textOf(input, "body") ?? "" });
      }
      return ok();
    },
  };
}

/** What a template has, under the names of what it is applied to. */
function copyOf({ values }: Entry, noun: "category" | "question", more: Values): Values {
  const own = Object.entries(values).filter(
    ([name]) => !/_(?:template|category)$/.test(name.replace(/^lessons_template_/, "")),
  );
  const renamed = own.map(([name, value]) => [name.replace("lessons_template_", "lessons_"), value]);
  const parents = noun === "category" ? { lessons_category_exercise: null, lessons_category_scenario: null } : {};
  return { ...parents, ...Object.fromEntries(renamed), ...more };
}

function viewOf({ id, values, createdAt, updatedAt }: Entry, idKey: string, prefix: string): Values {
  const times = { [`${prefix}_created_at`]: iso(createdAt), [`${prefix}_updated_at`]: iso(updatedAt) };
  return { listened: true, [idKey]: id, ...times, ...values };
}

/** The texts of a body and its place; what is missing is null, and 0 without a place. @throws Refusal 400. */
function textsIn(body: unknown, prefix: string, names: readonly string[], needed: string): Values {
  const input = objectOf(body);
  needTexts(input, [`${prefix}_${needed}`], false);
  const order = input[`${prefix}_order`];
  return {
    ...Object.fromEntries(names.map((name) => [`${prefix}_${name}`, textOf(input, `${prefix}_${name}`)])),
    [`${prefix}_order`]: typeof order === "number" ? order : 0,
  };
}
