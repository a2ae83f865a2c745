import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  LessonsTemplateCategory,
  LessonsTemplateQuestion,
  LessonsTemplateSchema,
} from "#proto/aev/v1/lessons_service_pb.js";
import { invalidArgument, notFound } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import { grouped } from "../../lib/grouped.js";
import type { Platform } from "../../platform.js";
import type { TenantScope } from "./tenant.js";
import { wholeOf } from "./whole.js";

/** A template of lessons learned, without what is in it. */
export interface UpstreamTemplate {
  readonly lessonstemplate_id: string;
  readonly lessons_template_name: string;
  readonly lessons_template_description: string | null;
}

interface UpstreamCategory {
  readonly lessonstemplatecategory_id: string;
  readonly lessons_template_category_name: string;
  readonly lessons_template_category_description: string | null;
  readonly lessons_template_category_order: number;
}

interface UpstreamQuestion {
  readonly lessonstemplatequestion_id: string;
  readonly lessons_template_question_category: string;
  readonly lessons_template_question_content: string;
  readonly lessons_template_question_explanation: string | null;
  readonly lessons_template_question_order: number;
}

const routeOf = (template: string) => `/lessons_templates/${template}/lessons_template_categories`;

/** The categories of a template and their questions, each in its order. */
export async function contentsOf(platform: Platform, tenant: TenantScope, template: string) {
  const categories = await wholeOf<UpstreamCategory>(platform, tenant, {
    route: routeOf(template),
    idKey: "lessonstemplatecategory_id",
  });
  const questions = await wholeOf<UpstreamQuestion>(platform, tenant, {
    route: `/lessons_templates/${template}/lessons_template_questions`,
    idKey: "lessonstemplatequestion_id",
  });
  const byCategory = grouped(questions, (question) => question.lessons_template_question_category);
  return categories
    .toSorted((a, b) => a.lessons_template_category_order - b.lessons_template_category_order)
    .map((category) => ({
      category,
      questions: (byCategory.get(category.lessonstemplatecategory_id) ?? []).toSorted(
        (a, b) => a.lessons_template_question_order - b.lessons_template_question_order,
      ),
    }));
}

/** A template with what is in it. */
export async function toTemplate(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamTemplate,
): Promise<MessageInitShape<typeof LessonsTemplateSchema>> {
  const contents = await contentsOf(platform, tenant, row.lessonstemplate_id);
  return {
    id: row.lessonstemplate_id,
    name: row.lessons_template_name,
    description: row.lessons_template_description ?? "",
    categories: contents.map(({ category, questions }) => ({
      id: category.lessonstemplatecategory_id,
      name: category.lessons_template_category_name,
      ...given({ description: category.lessons_template_category_description }),
      questions: questions.map((question) => ({
        id: question.lessonstemplatequestion_id,
        content: question.lessons_template_question_content,
        ...given({ explanation: question.lessons_template_question_explanation }),
      })),
    })),
  };
}

/** The most categories and questions that a call writes and deletes: each is an exchange with the platform. */
const MAX_WRITES = 64;

/**
 * Checks that a template can become what is wanted in one call.
 *
 * @param before what it has.
 * @throws ConnectError invalid_argument, where that takes too many exchanges.
 */
function needFewWrites(
  wanted: readonly LessonsTemplateCategory[],
  before: Awaited<ReturnType<typeof contentsOf>> = [],
): void {
  const [ids, had] = [new Set(idsIn(wanted)), before.flatMap(({ category, questions }) => [category, ...questions])];
  const gone = had.filter((one) => {
    return !ids.has(
      "lessonstemplatequestion_id" in one ? one.lessonstemplatequestion_id : one.lessonstemplatecategory_id,
    );
  });
  const writes = wanted.reduce((sum, { questions }) => sum + 1 + questions.length, gone.length);
  if (writes <= MAX_WRITES) return;
  throw invalidArgument(
    `categories: one call can write and delete at most ${MAX_WRITES} categories and questions in all, and this call needs ${writes}; nothing was changed. Use several templates, or edit this one in OpenAEV itself`,
  );
}

/**
 * Makes the categories of a template what is wanted: those with an id are
 * changed, others are made, those not named are deleted. Everything named is
 * looked up before anything is written.
 *
 * @throws ConnectError not_found for ids that the template has not, invalid_argument where it takes too many exchanges.
 */
export async function putContents(
  platform: Platform,
  tenant: TenantScope,
  template: string,
  wanted: readonly LessonsTemplateCategory[],
): Promise<void> {
  const before = await contentsOf(platform, tenant, template);
  checkContents(wanted, before);
  const send = (verb: "POST" | "PUT" | "DELETE", route: string, body?: object) =>
    platform.rest<Record<string, string> | undefined>({ verb, path: tenant.path(route), ...(body && { body }) });

  for (const [at, category] of wanted.entries()) {
    const body = {
      lessons_template_category_name: category.name.trim(),
      lessons_template_category_description: category.description ?? "",
      lessons_template_category_order: at + 1,
    };
    const known = before.find((one) => one.category.lessonstemplatecategory_id === category.id);
    const answer =
      category.id === undefined
        ? await send("POST", routeOf(template), body)
        : await send("PUT", `${routeOf(template)}/${category.id}`, body);
    const { lessonstemplatecategory_id: id = "" } = objectOf<Record<string, string>>(
      platform.server,
      answer,
      "lessonstemplatecategory_id",
    );
    const questions = `${routeOf(template)}/${id}/lessons_template_questions`;
    for (const [place, question] of category.questions.entries()) {
      if (question.id === undefined) await send("POST", questions, bodyOf(question, place));
      else await send("PUT", `${questions}/${question.id}`, bodyOf(question, place));
    }
    for (const { lessonstemplatequestion_id: gone } of known?.questions ?? []) {
      if (!category.questions.some((one) => one.id === gone)) await send("DELETE", `${questions}/${gone}`);
    }
  }
  for (const { category, questions } of before) {
    const { lessonstemplatecategory_id: gone } = category;
    if (wanted.some((one) => one.id === gone)) continue;
    const path = `${routeOf(template)}/${gone}`;
    // The platform deletes no category that has questions.
    for (const { lessonstemplatequestion_id: id } of questions) {
      await send("DELETE", `${path}/lessons_template_questions/${id}`);
    }
    await send("DELETE", path);
  }
}

function bodyOf({ content, explanation }: LessonsTemplateQuestion, place: number) {
  return {
    lessons_template_question_content: content.trim(),
    lessons_template_question_explanation: explanation ?? "",
    lessons_template_question_order: place + 1,
  };
}

/** The ids of categories and questions that are named. */
function idsIn(wanted: readonly LessonsTemplateCategory[]): string[] {
  return wanted.flatMap((category) => [category.id ?? [], category.questions.flatMap((one) => one.id ?? [])].flat());
}

/**
 * Checks the contents of a template before anything is written.
 *
 * @param before what the template has.
 * @throws ConnectError not_found for ids that the template has not, invalid_argument for blank texts and where it
 * takes too many exchanges.
 */
export function checkContents(
  wanted: readonly LessonsTemplateCategory[],
  before: Awaited<ReturnType<typeof contentsOf>> = [],
): void {
  // The platform refuses blank texts, one after the other, when others were written already.
  const texts = wanted.flatMap(({ name, questions }) => [name, ...questions.map((one) => one.content)]);
  if (texts.some(isBlank)) {
    throw invalidArgument(
      "categories: each category needs a name and each question a content that is more than blanks; nothing was changed",
    );
  }
  const all = wanted.flatMap((one) => [one.description, ...one.questions.map(({ explanation }) => explanation)]);
  if ([...texts, ...all].some((text) => text?.includes("\0"))) {
    throw invalidArgument("categories: a text has a NUL character, which OpenAEV cannot store; nothing was changed");
  }
  needKnown(before, wanted);
  needFewWrites(wanted, before);
}

/** To the platform, control characters are blanks too. */
const isBlank = (text: string) => [...text.trim()].every((letter) => letter <= " ");

function needKnown(before: Awaited<ReturnType<typeof contentsOf>>, wanted: readonly LessonsTemplateCategory[]): void {
  const ids = idsIn(wanted);
  if (new Set(ids).size < ids.length)
    throw invalidArgument("categories: the same id is given twice; nothing was changed");
  for (const category of wanted) {
    const known = before.find((one) => one.category.lessonstemplatecategory_id === category.id);
    if (category.id !== undefined && known === undefined) {
      throw notFound(`categories: this template has no category ${category.id}; nothing was changed`);
    }
    for (const { id } of category.questions) {
      if (id !== undefined && known?.questions.some((one) => one.lessonstemplatequestion_id === id) !== true) {
        throw notFound(`categories: ${category.name} has no question ${id}; nothing was changed`);
      }
    }
  }
}
