import type { Values } from "../kinds/kind.js";
import { shelfOf } from "../kinds/shelf.js";
import { DEFAULT_TENANT, SECOND_TENANT, type World } from "../world.js";
import type { Draw } from "./draw.js";

const DAY_MS = 86_400_000;
const QUESTIONS = ["Were alerts raised?", "Were they understood?"] as const;
const HEADLINES = [
  "Bank offline since the morning",
  "Customers report odd letters",
  "Police look into an attack",
] as const;

/** What lies below scenarios, simulations and templates: articles, lessons and reports. */
export function seedContent(world: World, draw: Draw, now: number): void {
  const at = now - 20 * DAY_MS;
  const add = (path: string, tenant: string, values: Values, later = 0): string => {
    const id = draw.uuid();
    shelfOf(world, path).put({ id, tenant, values, createdAt: at + later, updatedAt: at + later });
    return id;
  };
  for (const tenant of [DEFAULT_TENANT, SECOND_TENANT]) {
    const newest = <Row extends { readonly tenant: string | undefined; readonly updatedAt: number }>(
      rows: Iterable<Row>,
    ) => [...rows].filter((row) => row.tenant === tenant).sort((a, b) => b.updatedAt - a.updatedAt)[0] as Row;
    const scenario = newest(world.scenarios.values());
    const simulation = newest(world.simulations.values());
    const channel = newest(shelfOf(world, "channels").all()).id;
    for (const template of shelfOf(world, "lessons_templates").all()) {
      if (template.tenant !== tenant) continue;
      const category = add("lessons_template_categories", tenant, {
        lessons_template_category_template: template.id,
        lessons_template_category_name: "Detection",
        lessons_template_category_description: "How we saw it",
        lessons_template_category_order: 1,
      });
      for (const [order, content] of QUESTIONS.entries()) {
        add("lessons_template_questions", tenant, {
          lessons_template_question_category: category,
          lessons_template_question_content: content,
          lessons_template_question_explanation: "",
          lessons_template_question_order: order + 1,
        });
      }
    }
    for (const [field, id] of [
      ["scenario", scenario.id],
      ["exercise", simulation.id],
    ] as const) {
      for (const name of HEADLINES) {
        add("articles", tenant, {
          article_name: name,
          article_content: `${name}. `.repeat(12),
          article_author: "Exercise desk",
          article_shares: 12,
          article_likes: null,
          article_comments: null,
          article_channel: channel,
          article_documents: [],
          article_scenario: null,
          article_exercise: null,
          [`article_${field}`]: id,
        });
      }
      const category = add("lessons_categories", tenant, {
        lessons_category_scenario: null,
        lessons_category_exercise: null,
        [`lessons_category_${field}`]: id,
        lessons_category_name: "Detection",
        lessons_category_description: "How we saw it",
        lessons_category_order: 1,
      });
      for (const [order, content] of QUESTIONS.entries()) {
        const question = add("lessons_questions", tenant, {
          lessons_question_category: category,
          lessons_question_content: content,
          lessons_question_explanation: "",
          lessons_question_order: order + 1,
        });
        if (field === "scenario") continue;
        add("lessons_answers", tenant, {
          lessons_answer_question: question,
          lessons_answer_user: [...world.users.values()].find(({ tenants }) => tenants.includes(tenant))?.id ?? null,
          lessons_answer_score: 60,
          lessons_answer_positive: "The mail was reported within minutes",
          lessons_answer_negative: "Nobody knew who to call",
        });
      }
    }
    add("reports", tenant, {
      report_exercise: simulation.id,
      report_name: "First review",
      report_global_observation: "Seen late",
      report_informations: [
        {
          id: draw.uuid(),
          listened: true,
          report_informations_type: "SCORE_DETAILS",
          report_informations_display: true,
        },
      ],
      report_injects_comments: [],
    });
  }
}
