import { LessonsService } from "#proto/aev/v1/lessons_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf, rowsOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { writingBack } from "../../../lib/writing-back.js";
import { type Asked, askedOf } from "../lessons.js";
import { checkContents, putContents, toTemplate, type UpstreamTemplate } from "../lessons-template.js";
import { instantKey, listPage, nameKey, numberKey } from "../list.js";
import { planOf } from "../plan.js";
import { tenantOf } from "../tenant.js";
import { LESSONS_TEMPLATE, listedOf, needListed, wholeOf } from "../whole.js";

interface UpstreamAnswer {
  readonly lessonsanswer_id: string;
  readonly lessons_answer_question: string;
  readonly lessons_answer_user: string | null;
  readonly lessons_answer_score: number;
  readonly lessons_answer_positive: string | null;
  readonly lessons_answer_negative: string | null;
  readonly lessons_answer_created_at: string;
}

const {
  listLessonsTemplates,
  getLessonsTemplate,
  createLessonsTemplate,
  updateLessonsTemplate,
  deleteLessonsTemplate,
  listLessons,
  listLessonsAnswers,
  applyLessonsTemplate,
} = LessonsService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listLessonsTemplates, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamTemplate>(
      platform,
      tenant,
      {
        route: LESSONS_TEMPLATE.route,
        whole: () => wholeOf(platform, tenant, LESSONS_TEMPLATE),
        idKey: "lessonstemplate_id",
        query: r.query,
        textsOf: (row) => [row.lessons_template_name, row.lessons_template_description],
        order: {
          sorts: [{ property: "lessons_template_name", direction: "asc" }],
          keyOf: (row) => nameKey(row.lessons_template_name),
        },
      },
      r,
    );
    const lessonsTemplates = page.rows.map((row) => ({
      id: row.lessonstemplate_id,
      name: row.lessons_template_name,
      description: shorten(row.lessons_template_description),
    }));
    return { lessonsTemplates, ...page.paging };
  }),

  unary(getLessonsTemplate, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await listedOf<UpstreamTemplate>(platform, tenant, LESSONS_TEMPLATE, r.lessonsTemplateId);
    return { lessonsTemplate: await toTemplate(platform, tenant, row) };
  }),

  unary(createLessonsTemplate, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    // A new template has no categories that could be named by id.
    checkContents(r.categories);
    const body = { lessons_template_name: r.name.trim(), lessons_template_description: r.description };
    const answer = await platform.rest({ verb: "POST", path: tenant.path(LESSONS_TEMPLATE.route), body });
    const created = objectOf<UpstreamTemplate>(platform.server, answer, LESSONS_TEMPLATE.idKey);
    if (r.categories.length > 0) await putContents(platform, tenant, created.lessonstemplate_id, r.categories);
    return { lessonsTemplate: await toTemplate(platform, tenant, created) };
  }),

  writingBack(
    updateLessonsTemplate,
    (r) => [r.lessonsTemplateId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      let row = await listedOf<UpstreamTemplate>(platform, tenant, LESSONS_TEMPLATE, r.lessonsTemplateId);
      const { lessonstemplate_id: id } = row;
      if (r.clearCategories || r.categories.length > 0) await putContents(platform, tenant, id, r.categories);
      if (r.name !== undefined || r.description !== undefined) {
        const body = {
          lessons_template_name: r.name?.trim() ?? row.lessons_template_name,
          lessons_template_description: r.description ?? row.lessons_template_description,
        };
        const path = tenant.path(`${LESSONS_TEMPLATE.route}/${id}`);
        row = objectOf(platform.server, await platform.rest({ verb: "PUT", path, body }), LESSONS_TEMPLATE.idKey);
      }
      return { lessonsTemplate: await toTemplate(platform, tenant, row) };
    },
  ),

  unary(deleteLessonsTemplate, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await listedOf<UpstreamTemplate>(platform, tenant, LESSONS_TEMPLATE, r.lessonsTemplateId);
    const { lessonstemplate_id: id, lessons_template_name: name } = row;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`${LESSONS_TEMPLATE.route}/${id}`) });
    return { deleted: { id, name } };
  }),

  unary(listLessons, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    const page = await listPage<Asked>(
      platform,
      tenant,
      {
        route: `${plan.route}/lessons_questions`,
        whole: () => askedOf(platform, tenant, plan),
        idKey: "key",
        order: {
          sorts: [{ property: "lessons_question_order", direction: "asc" }],
          keyOf: ({ category, question }) =>
            [category.lessons_category_order, category.lessonscategory_id, question?.lessons_question_order]
              .map((part) => (typeof part === "string" ? part : numberKey(part)))
              .join(" "),
        },
      },
      r,
    );
    const lessons = page.rows.map(({ category, question }) => ({
      category: { id: category.lessonscategory_id, name: category.lessons_category_name },
      teams: category.lessons_category_teams?.length ?? 0,
      ...(question !== undefined && {
        id: question.lessonsquestion_id,
        content: question.lessons_question_content,
        explanation: question.lessons_question_explanation ?? "",
        answers: question.lessons_question_answers?.length ?? 0,
      }),
    }));
    return { lessons, ...page.paging };
  }),

  unary(listLessonsAnswers, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { route } = await planOf(platform, tenant, { case: "simulationId", value: r.simulationId });
    const player = r.playerId?.toLowerCase();
    const page = await listPage<UpstreamAnswer>(
      platform,
      tenant,
      {
        route: `${route}/lessons_answers${player === undefined ? "" : `?userId=${player}`}`,
        async whole() {
          const query = player === undefined ? {} : { query: { userId: player } };
          const path = tenant.path(`${route}/lessons_answers`);
          const answer = await platform.rest({ verb: "GET", path, ...query });
          const rows = rowsOf<UpstreamAnswer>(platform.server, answer, "lessonsanswer_id");
          return rows.filter((row) => player === undefined || row.lessons_answer_user === player);
        },
        idKey: "lessonsanswer_id",
        order: {
          sorts: [{ property: "lessons_answer_created_at", direction: "desc" }],
          keyOf: (row) => instantKey(row.lessons_answer_created_at),
        },
      },
      r,
    );
    const answers = page.rows.map((row) => ({
      id: row.lessonsanswer_id,
      question: { id: row.lessons_answer_question },
      ...(row.lessons_answer_user != null && { player: { id: row.lessons_answer_user } }),
      score: row.lessons_answer_score,
      positive: row.lessons_answer_positive ?? "",
      negative: row.lessons_answer_negative ?? "",
      ...given({ answeredAt: timeOf(row.lessons_answer_created_at) }),
    }));
    return { answers, ...page.paging };
  }),

  unary(applyLessonsTemplate, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    await needListed(platform, tenant, LESSONS_TEMPLATE, r.lessonsTemplateId);
    const before = await askedOf(platform, tenant, plan);
    const path = tenant.path(`${plan.route}/lessons_apply_template/${r.lessonsTemplateId.toLowerCase()}`);
    await platform.rest({ verb: "POST", path });
    const after = await askedOf(platform, tenant, plan);
    const known = new Set(before.map(({ key }) => key));
    const added = after.filter(({ key }) => !known.has(key));
    const named = new Map(added.map(({ category }) => [category.lessonscategory_id, category.lessons_category_name]));
    return {
      categoriesAdded: [...named].map(([id, name]) => ({ id, name })),
      questionsAdded: added.filter(({ question }) => question !== undefined).length,
      categories: new Set(after.map(({ category }) => category.lessonscategory_id)).size,
    };
  }),
];
