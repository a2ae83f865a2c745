import { grouped } from "../../lib/grouped.js";
import type { Platform } from "../../platform.js";
import type { Plan } from "./plan.js";
import type { TenantScope } from "./tenant.js";
import { wholeOf } from "./whole.js";

/** A category of questions of a scenario or simulation. */
export interface UpstreamCategory {
  readonly lessonscategory_id: string;
  readonly lessons_category_name: string;
  readonly lessons_category_order: number;
  readonly lessons_category_teams: readonly string[] | null;
  /** The players of those teams. */
  readonly lessons_category_users?: readonly string[] | null;
}

/** One of its questions. */
export interface UpstreamQuestion {
  readonly lessonsquestion_id: string;
  readonly lessons_question_category: string;
  readonly lessons_question_content: string;
  readonly lessons_question_explanation: string | null;
  readonly lessons_question_order: number;
  readonly lessons_question_answers: readonly string[] | null;
}

/** A question in its category; a category without questions stands alone. */
export interface Asked {
  readonly key: string;
  readonly category: UpstreamCategory;
  readonly question: UpstreamQuestion | undefined;
}

/** What a scenario or simulation asks. */
export async function askedOf(platform: Platform, tenant: TenantScope, { route }: Plan): Promise<Asked[]> {
  const categories = await wholeOf<UpstreamCategory>(platform, tenant, {
    route: `${route}/lessons_categories`,
    idKey: "lessonscategory_id",
  });
  const questions = await wholeOf<UpstreamQuestion>(platform, tenant, {
    route: `${route}/lessons_questions`,
    idKey: "lessonsquestion_id",
  });
  const byCategory = grouped(questions, (question) => question.lessons_question_category);
  return categories.flatMap((category): Asked[] => {
    const { lessonscategory_id: id } = category;
    const own = byCategory.get(id) ?? [];
    return own.length === 0
      ? [{ key: id, category, question: undefined }]
      : own.map((question) => ({ key: question.lessonsquestion_id, category, question }));
  });
}
