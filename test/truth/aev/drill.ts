import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import { Transcript } from "../frame/transcript.js";

// biome-ignore lint/suspicious/noExplicitAny: answers of tools, looked at as they are.
type Json = any;

/** The rights on the platform that the job needs, and no others. */
export const NEEDED = ["ACCESS_ASSESSMENT", "MANAGE_ASSESSMENT", "ACCESS_DOCUMENTS", "MANAGE_DOCUMENTS"]
  .concat("ACCESS_CHANNELS", "ACCESS_LESSONS_LEARNED")
  .sort();

/** Tools of other services that it takes besides those of content. */
export const TOOLS = [
  "set_scenario_teams",
  "list_injector_contracts",
  "get_injector_contract",
  "create_inject",
] as const;

/** What the job is done with. */
export interface Drill {
  readonly name: string;
  /** What stands in the document: the same twice is one document. */
  readonly rules: string;
}

/** What the job made. */
export interface Made {
  readonly scenario: string;
  readonly document: string;
  readonly team: string;
  readonly injects: readonly string[];
  readonly transcript: Transcript;
}

/**
 * "Prepare a phishing drill": a scenario with labels, a team, the rules of the
 * drill as a document, two mails, a press article, and what is asked
 * afterwards; looked at in the end as it stands.
 *
 * @throws Error where a tool refuses, or something did not come about.
 */
export async function preparePhishingDrill(person: Person, { name, rules }: Drill): Promise<Made> {
  const job = new Transcript(`Prepare a phishing drill, as ${person.name}`, person);
  const me = await job.get<Json>("whoami");
  expect(me.tenants).toHaveLength(1);
  const { labels } = await job.get<Json>("list_labels", { page_size: 5 });
  const { teams } = await job.get<Json>("list_teams", { page_size: 5 });
  const team = teams[0];
  await job.get("list_players", { team_id: team.id, page_size: 5 });

  const { scenario } = await job.get<Json>("create_scenario", {
    name,
    description: "Two mails that ask for a password, a week apart; who reports them, and how fast.",
    category: "attack-scenario",
    main_focus: "incident-response",
    severity: "medium",
    labels: labels.slice(0, 1).map((label: Json) => label.id),
  });
  const of = { scenario_id: scenario.id };
  const { document } = await job.get<Json>("upload_document", {
    name: "rules-of-the-drill.txt",
    content: rules,
    description: "Who may be written to, and who ends the drill",
    scenario_ids: [scenario.id],
  });
  await job.get("set_scenario_teams", { ...of, team_ids: [team.id] });

  const { injector_contracts: actions } = await job.get<Json>("list_injector_contracts", {
    query: "individual mails",
  });
  const action = actions[0];
  await job.get("get_injector_contract", { injector_contract_id: action.id });
  const injects: string[] = [];
  for (const [title, delay, body] of [
    ["Your mailbox is full", 0, "<p>Sign in within the hour to keep your mail.</p>"],
    ["Payroll has changed", 604_800, "<p>Confirm your account before the next payment.</p>"],
  ] as const) {
    const { inject, lacks } = await job.get<Json>("create_inject", {
      ...of,
      title,
      injector_contract_id: action.id,
      content: { subject: title, body },
      team_ids: [team.id],
      delay_seconds: delay,
    });
    expect(lacks ?? []).toEqual([]);
    injects.push(inject.id);
  }

  const { channels } = await job.get<Json>("list_channels", { page_size: 5 });
  if (channels?.length > 0) {
    await job.get("create_article", {
      ...of,
      channel_id: channels[0].id,
      name: "Staff of a bank fall for a false payroll mail",
      content: "Several hundred passwords are said to be in the wrong hands.",
    });
  }
  const { lessons_templates: templates } = await job.get<Json>("list_lessons_templates", { page_size: 5 });
  if (templates?.length > 0) {
    await job.get("apply_lessons_template", { ...of, lessons_template_id: templates[0].id });
  }

  const standing = await job.get<Json>("get_scenario", of);
  expect(standing.scenario).toMatchObject({ id: scenario.id, name, severity: "medium" });
  const steps = await job.get<Json>("list_injects", of);
  expect(steps.injects.map((one: Json) => one.id)).toEqual(injects);
  const kept = await job.get<Json>("get_document", { document_id: document.id });
  expect(kept.document.scenarios.map((one: Json) => one.id)).toContain(scenario.id);
  return { scenario: scenario.id, document: document.id, team: team.id, injects, transcript: job };
}
