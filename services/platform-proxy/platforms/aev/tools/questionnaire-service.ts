import { QuestionnaireService } from "#proto/aev/v1/questionnaire_service_pb.js";
import { failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { type Asked, askedOf, type UpstreamCategory } from "../lessons.js";
import { type Plan, planOf } from "../plan.js";
import { searchAll } from "../search.js";
import { teamIds } from "../targets.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamTeam {
  readonly team_id: string;
  readonly team_name: string;
  readonly team_users_number: number;
}

/** What the platform puts the player's link in place of. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the platform's own notation.
const LINK = "${lessons_uri}";
const MAX_TEAMS = 10_000;

/** How the tools of this service are answered. */
export const bindings = [
  unary(QuestionnaireService.method.setLessonsTeams, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    const before = categoriesOf(await askedOf(platform, tenant, plan));
    if (before.length === 0) {
      throw failedPrecondition(
        `${plan.noun}_id: this ${plan.noun} has no questions, so no team can get them; apply_lessons_template adds questions; nothing was changed`,
      );
    }
    const wanted = r.categoryId === undefined ? [] : [r.categoryId.toLowerCase()];
    const unknown = wanted.filter((id) => !before.some(({ category }) => category.lessonscategory_id === id));
    if (unknown.length > 0) {
      throw notFound(
        `category_id: this ${plan.noun} has no category ${unknown.join(", ")}; list_lessons lists its categories; nothing was changed`,
      );
    }
    const ids = r.clearTeams ? [] : await teamIds(platform, tenant, r.teamIds);
    const empty = (await teamsOf(platform, tenant, ids)).filter(({ team_users_number: players }) => players === 0);
    if (empty.length > 0) {
      throw failedPrecondition(
        `team_ids: ${namesOf(empty)} has no players, so nobody would be asked; name other teams (list_teams shows the players of each), or ask an administrator of OpenAEV to add players; nothing was changed`,
      );
    }
    const changed = before.filter(
      ({ category }) => wanted.length === 0 || wanted.includes(category.lessonscategory_id),
    );
    for (const { category } of changed) {
      const path = tenant.path(`${plan.route}/lessons_categories/${category.lessonscategory_id}/teams`);
      await platform.rest<unknown>({ verb: "PUT", path, body: { lessons_category_teams: ids } });
    }
    const audience = await audienceOf(platform, tenant, plan);
    return { categories: audience.categories, players: audience.players };
  }),

  unary(QuestionnaireService.method.launchLessonsQuestionnaire, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, { case: "simulationId", value: r.simulationId });
    const { categories, teams, players } = await audienceOf(platform, tenant, plan);
    const sent = categories.filter((one) => one.teams.length > 0 && one.questions > 0);
    const questions = sent.reduce((sum, one) => sum + one.questions, 0);
    const lack = categories.every((one) => one.questions === 0)
      ? "the simulation has no questions; apply_lessons_template adds them"
      : sent.length === 0
        ? "no category with questions has a team; set_lessons_teams sets them"
        : players === 0
          ? `${namesOf(teams)} has no players; set_lessons_teams sets other teams`
          : undefined;
    if (lack !== undefined) {
      throw failedPrecondition(`simulation_id: nobody would get the questionnaire: ${lack}; nothing was sent`);
    }
    const body = r.message.includes(LINK) ? r.message : `${r.message}<p><a href="${LINK}">${LINK}</a></p>`;
    await platform.rest<unknown>({
      verb: "POST",
      path: tenant.path(`${plan.route}/lessons_send`),
      body: { subject: r.subject.trim(), body },
    });
    return {
      players,
      questions,
      teams: teams.map(({ team_id: id, team_name: name }) => ({ id, name })),
      unsent: categories.filter((one) => one.teams.length === 0).map(({ id, name }) => ({ id, name })),
    };
  }),
];

/** Categories, each with the number of its questions. */
function categoriesOf(asked: readonly Asked[]): { readonly category: UpstreamCategory; readonly questions: number }[] {
  const byId = new Map<string, { category: UpstreamCategory; questions: number }>();
  for (const { category, question } of asked) {
    const { questions = 0 } = byId.get(category.lessonscategory_id) ?? {};
    byId.set(category.lessonscategory_id, { category, questions: questions + (question === undefined ? 0 : 1) });
  }
  return [...byId.values()].sort((a, b) => a.category.lessons_category_order - b.category.lessons_category_order);
}

/** Who is asked what: the platform mails to all players of the categories' teams, each once. */
async function audienceOf(platform: Platform, tenant: TenantScope, plan: Plan) {
  const own = categoriesOf(await askedOf(platform, tenant, plan));
  const teams = await teamsOf(platform, tenant, [
    ...new Set(own.flatMap(({ category }) => category.lessons_category_teams ?? [])),
  ]);
  const names = new Map(teams.map((team) => [team.team_id, team.team_name]));
  const categories = own.map(({ category, questions }) => ({
    id: category.lessonscategory_id,
    name: category.lessons_category_name,
    questions,
    teams: (category.lessons_category_teams ?? []).map((id) => ({ id, ...nameIn(names, id) })),
  }));
  const players = new Set(own.flatMap(({ category }) => category.lessons_category_users ?? []));
  return { categories, teams, players: players.size };
}

const nameIn = (names: ReadonlyMap<string, string>, id: string) => {
  const name = names.get(id);
  return name === undefined ? {} : { name };
};

async function teamsOf(platform: Platform, tenant: TenantScope, ids: readonly string[]): Promise<UpstreamTeam[]> {
  if (ids.length === 0) return [];
  const search = {
    route: "/teams/search",
    idKey: "team_id",
    sorts: [{ property: "team_name", direction: "asc" }],
  } as const;
  const found = new Map<string, UpstreamTeam>();
  for await (const team of searchAll<UpstreamTeam>(platform, tenant, search, MAX_TEAMS)) {
    if (ids.includes(team.team_id)) found.set(team.team_id, team);
  }
  return [...found.values()];
}

const namesOf = (teams: readonly UpstreamTeam[]): string => teams.map(({ team_name: name }) => name).join(", ");
