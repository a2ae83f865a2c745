// What a model should know before it uses a server: read once per session by
// every client, so short. The tools say the rest themselves.

const PAGES =
  "Lists are paged: ask for few with page_size, go on with next_page_token, and fetch one object by its id for details. " +
  "A result with truncated: true was cut; its truncated_hint says how to get the rest. " +
  "A call can fail because of your user's own permissions on the platform; say so rather than trying other tools.";

const TEXTS: Readonly<Record<string, string>> = {
  cti: `Threat intelligence of the connected platform, as the signed-in user sees it: search indicators, observables, reports, threat actors, malware, vulnerabilities and their relations. Search first, then read objects by id; ids are the platform's own and come from results, never from memory. Writes act on the live knowledge graph at once. ${PAGES}`,
  aev: `Adversarial exposure validation on the connected platform, as the signed-in user: scenarios, simulations, injects, assets, teams, expectations and findings. Tools that launch a simulation or an inject act on real machines and mail real people: confirm with the user first. Where the user has several tenants, pass tenant_id. ${PAGES}`,
  grc: `Governance, risk and compliance of the connected platform, as the signed-in user: frameworks, assessments, requirements, controls, risks, evidence and remediation. Read a framework or an assessment before its parts. Where the user has several tenants, pass tenant_id. ${PAGES}`,
  core: `The service's own objects, as the signed-in user may see them: agents, assignments, runs, knowledge bases, prompts, skills, custom tools, integrations, MCP servers, variables and agent traces. Updates change only the fields that are given. Built-in objects are read-only; some others need more than the right to view them. Secrets are written, never read. ${PAGES}`,
};

/** The instructions of a server, at most 2 KB. */
export function instructionsOf(server: string): string {
  return TEXTS[server] ?? PAGES;
}
