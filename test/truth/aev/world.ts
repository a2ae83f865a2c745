import { setTimeout as sleep } from "node:timers/promises";
import type { Json, RealPlatform } from "./platform.js";

/** The tenant that every installation has. */
export const FIRST = "2cffad3a-0001-4078-b0e2-ef74274022c3";

/** Everybody who is asked as. */
export const PEOPLE = [
  "administrator",
  "analyst",
  "reader",
  "granted",
  "launcher",
  "outsider",
  "both",
  "nobody",
  "stranger",
] as const;

/** What is looked at: made anew at each run, with names of its own. */
export interface World {
  /** Part of every name. */
  readonly run: string;
  readonly network: string;
  readonly emails: Readonly<Record<string, string>>;
  /** Ids by our names for them. */
  readonly ids: Readonly<Record<string, string>>;
  /** An instant between those at which scenarios, and other things, were made. */
  readonly middle: string;
  /** The tenant that somebody works in. */
  tenantOf(person: string): string;
  /** Has what a test made taken away after it: comparisons read all that there is. */
  removeLater(tenant: string, path: string): void;
  /** Takes that away. */
  tidy(): Promise<void>;
  remove(): Promise<void>;
}

const CONTENT = ["DOCUMENTS", "CHANNELS", "CHALLENGES", "LESSONS_LEARNED"];
const READ = [
  ...["ACCESS_ASSESSMENT", "ACCESS_ASSETS", "ACCESS_FINDINGS", "ACCESS_PAYLOADS"],
  ...CONTENT.map((area) => `ACCESS_${area}`),
];
const WORK = [
  ...["MANAGE_ASSESSMENT", "DELETE_ASSESSMENT", "LAUNCH_ASSESSMENT", "MANAGE_ASSETS", "MANAGE_FINDINGS"],
  ...["DELETE_ASSETS", "DELETE_FINDINGS", "MANAGE_PAYLOADS", "DELETE_PAYLOADS"],
  ...CONTENT.flatMap((area) => [`MANAGE_${area}`, `DELETE_${area}`]),
];
const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const MANUAL = "d02e9132-b9d0-4daa-b3b1-4b9871f8472c";
/** What is expected of each player, and recorded by a person. */
const ANSWERED = {
  expectation_type: "MANUAL",
  expectation_name: "Answered in time",
  expectation_score: 100,
  expectation_expectation_group: false,
  expectation_expiration_time: 3600,
};
/** Rows that no sort tells apart. */
export const TWINS = 13;

/** Makes it. @throws Error where the platform has no second tenant (real-platforms' seed makes one). */
export async function makeWorld(platform: RealPlatform, administrator: string): Promise<World> {
  const builder = new Builder(platform, administrator);
  await builder.tenants();
  await builder.people();
  await builder.plans();
  await builder.runs();
  await builder.catalogue();
  await builder.elsewhere();
  await builder.payloads();
  await builder.channels();
  await builder.rights();
  return builder;
}

class Builder implements World {
  readonly run = `r${Date.now().toString(36)}`;
  /** The network of this run's endpoints: those of earlier runs may still be there. */
  readonly network = `10.${Math.floor(Date.now() / 60_000) % 250}.${Math.floor(Date.now() / 1_000) % 250}`;
  readonly ids: Record<string, string> = {};
  middle = "";
  readonly emails: Record<string, string>;
  private readonly undo: [string, string][] = [];
  private readonly made: [string, string][] = [];
  private second = "";

  constructor(
    private readonly platform: RealPlatform,
    private readonly administrator: string,
  ) {
    const mail = (name: string) => `${name}-${this.run}@truth.test`;
    this.emails = Object.fromEntries(PEOPLE.map((name) => [name, mail(name)]));
    this.emails.administrator = administrator;
  }

  tenantOf(person: string): string {
    return person === "outsider" || person === "both" ? this.second : FIRST;
  }

  async tenants(): Promise<void> {
    const tenants: Json[] = await this.platform.need(this.administrator, "GET", "/api/me/tenants");
    this.second = tenants.find(({ tenant_id }) => tenant_id !== FIRST)?.tenant_id ?? "";
    if (this.second === "") throw new Error("the platform has no second tenant");
    this.ids.first = FIRST;
    this.ids.second = this.second;
  }

  async people(): Promise<void> {
    for (const name of PEOPLE.filter((one) => one !== "administrator" && one !== "stranger")) {
      const body = {
        user_email: this.emails[name],
        user_firstname: name,
        user_lastname: this.run,
        user_plain_password: "Truth-2026-test",
        user_admin: false,
      };
      await this.make(name, this.tenantOf(name), "/users", body, "user_id");
    }
    // Made in a second tenant too, an account is a member of both.
    const again = { user_email: this.emails.both, user_firstname: "both", user_lastname: this.run, user_admin: false };
    await this.need("POST", FIRST, "/users", { ...again, user_plain_password: "Truth-2026-test" });
    await this.group("both", this.second, READ);
    await this.group("analyst", FIRST, [...READ, ...WORK]);
    await this.group("reader", FIRST, READ);
    await this.group("outsider", this.second, [...READ, ...WORK]);
  }

  /** Scenarios of every kind of label, some of one name, some with names that are read otherwise than by people. */
  async plans(): Promise<void> {
    for (const color of ["red", "blue", "green"]) {
      await this.make(color, FIRST, "/tags", { tag_name: `${color}-${this.run}`, tag_color: "#123456" }, "tag_id");
    }
    const { red = "", blue = "" } = this.ids;
    const labels = [[red], [blue], [red, blue], []];
    for (let i = 0; i < TWINS; i++) {
      await this.scenario(`twin${i}`, `Same plan ${this.run}`, {
        scenario_tags: labels[i % 4],
        scenario_severity: "high",
      });
    }
    this.middle = new Date().toISOString();
    for (const i of [0, 1]) await this.scenario(`doomed${i}`, `Doomed ${i} ${this.run}`, {});
    await this.scenario("dotted", `İstanbul ${this.run}`, {});
    await this.scenario("odd0", `Plan_A 100% ${this.run}`, { scenario_category: "true" });
    await this.scenario("odd1", `PlanXA 100 ${this.run}`, { scenario_severity: "low" });
    await this.scenario("truth", "true", { scenario_external_reference: this.run });
    await this.scenario("full", `Full plan ${this.run}`, {
      scenario_description: "What it is about",
      scenario_subtitle: "Subtitle",
      scenario_category: "global-crisis",
      scenario_main_focus: "incident-response",
      scenario_severity: "critical",
      scenario_external_reference: "EX-1",
      scenario_external_url: "https://example.org/1",
      scenario_message_header: "HEADER",
      scenario_message_footer: "FOOTER",
      scenario_mail_from_name: "Exercise desk",
      scenario_mails_reply_to: ["desk@example.org"],
      scenario_tags: [red, blue],
    });
    await this.make("team", FIRST, "/teams", { team_name: `Team ${this.run}` }, "team_id");
    const organization = {
      organization_name: `Organization ${this.run}`,
      organization_description: "",
      organization_tags: [],
    };
    await this.make("organization", FIRST, "/organizations", organization, "organization_id");
    const player = {
      user_email: `player-${this.run}@truth.test`,
      user_organization: this.ids.organization,
      user_teams: [],
      user_tags: [],
    };
    await this.make("player", FIRST, "/players", player, "user_id");
    await this.need("PUT", FIRST, `/teams/${this.ids.team}/players`, { team_users: [this.ids.player] });
    for (const of of ["full", "twin0"]) {
      const path = `/scenarios/${this.ids[of]}/teams/replace`;
      await this.need("PUT", FIRST, path, { scenario_teams: [this.ids.team] });
    }
    // Expectations are of those players alone that take part.
    const enable = `/scenarios/${this.ids.full}/teams/${this.ids.team}/players/enable`;
    await this.need("PUT", FIRST, enable, { scenario_team_players: [this.ids.player] });
    for (let i = 0; i < TWINS; i++) await this.inject(`call${i}`, "full", "Call the desk", MANUAL, 600);
    await this.inject("mail", "full", "Warn the team", MAIL, 0, {
      inject_teams: [this.ids.team],
      inject_tags: [red, blue],
    });
    await this.inject("answer", "full", "Answer the call", MANUAL, 0, {
      inject_teams: [this.ids.team],
      inject_content: { content: "Answer", expectations: [ANSWERED] },
    });
    await this.inject("late", "twin0", "Wrap-up", MANUAL, 604_800);
  }

  /** Simulations that run, are planned and over. */
  async runs(): Promise<void> {
    for (let i = 0; i < TWINS; i++) {
      const tags = [[this.ids.red], [this.ids.red, this.ids.blue], []][i % 3];
      const body = { exercise_name: `Same run ${this.run}`, exercise_tags: tags, exercise_severity: "low" };
      await this.make(`run${i}`, FIRST, "/exercises", body, "exercise_id");
    }
    await this.make("running", FIRST, `/scenarios/${this.ids.full}/exercise/running`, {}, "exercise_id");
    await this.make("canceled", FIRST, `/scenarios/${this.ids.twin0}/exercise/running`, {}, "exercise_id");
    await this.need("PUT", FIRST, `/exercises/${this.ids.canceled}/status`, { exercise_status: "CANCELED" });
    // Injects run each minute, and what is expected of people is made then.
    await this.until("what the running simulation expects", async () => {
      const path = `/api/tenants/${FIRST}/exercises/${this.ids.running}/expectations`;
      return (await this.platform.need(this.administrator, "GET", path)).length > 0;
    });
  }

  /** Machines of one image, techniques of one name, findings made at once. */
  async catalogue(): Promise<void> {
    const tags = [[this.ids.red], [this.ids.red, this.ids.blue], []];
    for (let i = 0; i < TWINS; i++) {
      await this.endpoint(`machine${i}`, FIRST, `image-${this.run}`, [`${this.network}.${i + 1}`], tags[i % 3]);
    }
    await this.endpoint(
      "multi",
      FIRST,
      `multi-${this.run}`,
      ["10.77.2.1", `${this.network}.1`, `${this.network}.100`],
      [],
    );
    for (let i = 0; i < 8; i++) {
      const body = {
        attack_pattern_name: `Account use ${this.run}`,
        attack_pattern_external_id: `T9${i}.${this.run}`,
        attack_pattern_description: `${"Adversaries use accounts. ".repeat(8)}End ${i}.`,
        attack_pattern_platforms: ["Linux"],
        attack_pattern_kill_chain_phases: [],
      };
      await this.make(`technique${i}`, FIRST, "/attack_patterns", body, "attack_pattern_id");
    }
    const atomic = { inject_title: `Atomic ${this.run}`, inject_injector_contract: MANUAL, inject_content: {} };
    const lists = {
      inject_assets: [],
      inject_asset_groups: [],
      inject_teams: [],
      inject_documents: [],
      inject_tags: [],
    };
    await this.make("atomic", FIRST, "/atomic-testings", { ...atomic, ...lists, inject_all_teams: false }, "inject_id");
    for (let i = 0; i < TWINS; i++) {
      const body = { finding_field: "stdout", finding_type: i % 2 === 0 ? "cve" : "ipv4", finding_labels: [] };
      const value = i % 2 === 0 ? `CVE-2026-${this.run}_${i}` : `10.77.9.${i}`;
      const made = { ...body, finding_value: value, finding_inject_id: this.ids.atomic };
      await this.make(`finding${i}`, FIRST, "/findings", made, "finding_id");
    }
    // The platform finds these by another word than it shows.
    for (const type of ["admin_username", "portscan", "kerberoastable_account"]) {
      const made = {
        finding_field: "stdout",
        finding_type: type,
        finding_labels: [],
        finding_value: `${type} ${this.run}`,
      };
      await this.make(type, FIRST, "/findings", { ...made, finding_inject_id: this.ids.atomic }, "finding_id");
    }
  }

  /** Payloads of one name, and one that is another tenant's. */
  async payloads(): Promise<void> {
    const body = {
      payload_type: "Command",
      payload_source: "MANUAL",
      payload_status: "UNVERIFIED",
      payload_platforms: ["Linux"],
      payload_domains: [],
      command_executor: "sh",
      command_content: "id #{who}",
      payload_arguments: [{ type: "text", key: "who", default_value: "root", description: null }],
      payload_cleanup_executor: "sh",
      payload_cleanup_command: "true",
    };
    const name = `Same payload ${this.run}`;
    for (let i = 0; i < 3; i++) {
      const of = { payload_name: name, payload_attack_patterns: [this.ids.technique0], payload_tags: [this.ids.red] };
      await this.make(`payload${i}`, FIRST, "/payloads", { ...body, ...of }, "payload_id");
    }
    const other = { ...body, payload_name: `Other payload ${this.run}` };
    await this.make("otherPayload", this.second, "/payloads", other, "payload_id");
    const variable = { variable_key: "town", variable_value: "Berlin", variable_description: "Where" };
    await this.make("variable", FIRST, `/scenarios/${this.ids.full}/variables`, variable, "variable_id");
    const atomic = this.injectBody(`Other test ${this.run}`, MAIL, 0, { subject: "x", body: "y" });
    await this.make("otherAtomic", this.second, "/atomic-testings", atomic, "inject_id");
  }

  /** Where articles appear. */
  async channels(): Promise<void> {
    for (const [key, tenant] of [
      ["channel", FIRST],
      ["otherChannel", this.second],
    ] as const) {
      const body = { channel_name: `${key} ${this.run}`, channel_type: "newspaper", channel_description: "Kept" };
      await this.make(key, tenant, "/channels", body, "channel_id");
    }
  }

  /** The other tenant's, with names of its own. */
  async elsewhere(): Promise<void> {
    await this.make(
      "otherTag",
      this.second,
      "/tags",
      { tag_name: `other-${this.run}`, tag_color: "#654321" },
      "tag_id",
    );
    for (let i = 0; i < 5; i++) {
      const body = {
        scenario_name: `Other unit ${i % 2} ${this.run}`,
        scenario_tags: i === 0 ? [this.ids.otherTag] : [],
      };
      await this.make(`other${i}`, this.second, "/scenarios", body, "scenario_id");
    }
    const step = this.injectBody("Other call", MANUAL, 600, { content: "Call" });
    await this.make("otherCall", this.second, `/scenarios/${this.ids.other0}/injects`, step, "inject_id");
    await this.make("otherRun", this.second, `/scenarios/${this.ids.other0}/exercise/running`, {}, "exercise_id");
    const steps = `/exercises/${this.ids.otherRun}/injects/search`;
    this.ids.otherStep = (await this.need("POST", this.second, steps, { size: 1 })).content[0].inject_id;
    const planned = { exercise_name: `Other plan ${this.run}`, exercise_tags: [] };
    await this.make("otherPlanned", this.second, "/exercises", planned, "exercise_id");
    await this.make("otherCanceled", this.second, `/scenarios/${this.ids.other1}/exercise/running`, {}, "exercise_id");
    const canceled = `/exercises/${this.ids.otherCanceled}/status`;
    await this.need("PUT", this.second, canceled, { exercise_status: "CANCELED" });
    await this.endpoint("otherMachine", this.second, `other-machine-${this.run}`, [`${this.network}.1`], []);
    await this.endpoint("otherMachine1", this.second, `other-machine-1-${this.run}`, [`${this.network}.2`], []);
  }

  /** Single grants: reading one scenario and one of its simulations; launching another. */
  async rights(): Promise<void> {
    await this.group(
      "granted",
      FIRST,
      [],
      [
        ["OBSERVER", "full", "SCENARIO"],
        ["OBSERVER", "running", "SIMULATION"],
      ],
    );
    const launched = ["twin0", "doomed0", "doomed1"].map((key) => ["LAUNCHER", key, "SCENARIO"] as const);
    await this.group("launcher", FIRST, [], launched);
    // Rights that were given act some seconds later.
    await this.until("what the reader may read", async () => {
      const path = `/api/tenants/${FIRST}/scenarios/${this.ids.full}`;
      return (await this.platform.call(this.emails.reader!, "GET", path)).status === 200;
    });
  }

  /** Waits for what the platform does some time after it was asked. */
  private async until(what: string, isThere: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < 90; i++) {
      if (await isThere()) return;
      await sleep(1_000);
    }
    throw new Error(`${what} is not there: the world is not as it was meant`);
  }

  removeLater(tenant: string, path: string): void {
    this.made.push([tenant, path]);
  }

  tidy(): Promise<void> {
    return this.take(this.made.splice(0));
  }

  async remove(): Promise<void> {
    await this.tidy();
    await this.take(this.undo);
  }

  private async take(paths: readonly [string, string][]): Promise<void> {
    for (const [tenant, path] of paths.toReversed()) {
      await this.platform.call(this.administrator, "DELETE", `/api/tenants/${tenant}${path}`);
    }
  }

  private scenario(key: string, name: string, more: object): Promise<string> {
    return this.make(key, FIRST, "/scenarios", { scenario_name: name, ...more }, "scenario_id");
  }

  private inject(key: string, scenario: string, title: string, contract: string, delay: number, more: object = {}) {
    const content =
      contract === MAIL ? { subject: "Exercise", body: "<p>Hello</p>", expectations: [] } : { content: "Call" };
    const body = { ...this.injectBody(title, contract, delay, content), ...more };
    return this.make(key, FIRST, `/scenarios/${this.ids[scenario]}/injects`, body, "inject_id");
  }

  private injectBody(title: string, contract: string, delay: number, content: object) {
    return {
      inject_title: title,
      inject_injector_contract: contract,
      inject_content: content,
      inject_depends_duration: delay,
      inject_teams: [],
      inject_assets: [],
      inject_asset_groups: [],
      inject_documents: [],
      inject_tags: [],
      inject_all_teams: false,
      inject_enabled: true,
    };
  }

  private async endpoint(key: string, tenant: string, name: string, ips: readonly string[], tags: unknown) {
    const body = {
      asset_name: name,
      endpoint_hostname: name,
      endpoint_platform: "Linux",
      endpoint_arch: "x86_64",
      endpoint_ips: ips,
      endpoint_mac_addresses: [],
      asset_tags: tags,
      endpoint_is_eol: false,
    };
    this.ids[key] = (await this.need("POST", tenant, "/endpoints/agentless", body)).asset_id;
    this.undo.push([tenant, `/endpoints/${this.ids[key]}`]);
  }

  private async group(
    person: string,
    tenant: string,
    capabilities: readonly string[],
    grants: readonly (readonly [string, string, string])[] = [],
  ): Promise<void> {
    const name = `${person} ${this.run}`;
    const of = { group_name: name, group_default_user_assign: false };
    const group = await this.make(`${person}Group`, tenant, "/groups", of, "group_id");
    await this.need("PUT", tenant, `/groups/${group}/users`, { group_users: [this.ids[person]] });
    if (capabilities.length > 0) {
      const role = { role_name: name, role_capabilities: capabilities };
      await this.make(`${person}Role`, tenant, "/roles", role, "role_id");
      await this.need("PUT", tenant, `/groups/${group}/roles`, { group_roles: [this.ids[`${person}Role`]] });
    }
    for (const [level, object, kind] of grants) {
      const grant = { grant_name: level, grant_resource: this.ids[object], grant_resource_type: kind };
      await this.need("POST", tenant, `/groups/${group}/grants`, grant);
    }
  }

  private async make(key: string, tenant: string, path: string, body: object, id: string): Promise<string> {
    const made = await this.need("POST", tenant, path, body);
    const got = made[id] as string;
    if (typeof got !== "string") throw new Error(`POST ${path} gave no ${id}: ${JSON.stringify(made).slice(0, 300)}`);
    this.ids[key] = got;
    const kind = path.endsWith("/exercise/running")
      ? "/exercises"
      : path.replace(/^\/scenarios\/[^/]+\/(?:injects|variables)$/, "");
    if (kind !== "") this.undo.push([tenant, `${kind}/${got}`]);
    return got;
  }

  private need(method: string, tenant: string, path: string, body: unknown): Promise<Json> {
    return this.platform.need(this.administrator, method, `/api/tenants/${tenant}${path}`, body);
  }
}
