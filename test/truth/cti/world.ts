import type { RealPlatform } from "./platform.js";
import { makeKinds } from "./world-kinds.js";

/** Everybody who is asked as; the stranger has no account at the platform. */
export const PEOPLE = ["administrator", "analyst", "writer", "reader", "granted", "nobody", "stranger"] as const;

/** Who may read. */
export const READERS = ["administrator", "analyst", "writer", "reader", "granted"] as const;
/** Who may write. */
export const WRITERS = ["administrator", "analyst", "writer"] as const;
/** Who may read and not write. */
export const ONLY_READERS = ["reader", "granted"] as const;
/** Who may do nothing. */
export const OUTSIDE = ["nobody", "stranger"] as const;

interface Rights {
  readonly capabilities: readonly string[];
  readonly markings: readonly string[];
  readonly confidence: number;
}

const RIGHTS: Readonly<Record<string, Rights>> = {
  administrator: { capabilities: ["BYPASS"], markings: [], confidence: 100 },
  analyst: {
    capabilities: [
      ...["KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE_KNDELETE", "KNOWLEDGE_KNUPDATE_KNMERGE", "EXPLORE"],
      "SETTINGS_SETLABELS",
    ],
    markings: ["TLP:CLEAR", "TLP:GREEN", "TLP:AMBER", "PAP:CLEAR"],
    confidence: 80,
  },
  writer: { capabilities: ["KNOWLEDGE_KNUPDATE"], markings: ["TLP:CLEAR", "TLP:GREEN"], confidence: 50 },
  reader: { capabilities: ["KNOWLEDGE"], markings: ["TLP:CLEAR", "TLP:GREEN"], confidence: 50 },
  // One right and no marking.
  granted: { capabilities: ["KNOWLEDGE"], markings: [], confidence: 0 },
  nobody: { capabilities: [], markings: [], confidence: 0 },
};

/** What the truth tests look at, made anew at each run. */
export interface World {
  /** In every name. */
  readonly run: string;
  readonly emails: Readonly<Record<string, string>>;
  readonly ids: Readonly<Record<string, string>>;
  /** Makes one more object as the administrator; its id. */
  make(type: string, input: object): Promise<string>;
  /** Makes one more observable. */
  observe(type: string, fields: object, more?: object): Promise<string>;
  relate(fromId: string, type: string, toId: string, more?: object): Promise<string>;
  /** The ids of markings by names. */
  marked(...names: string[]): { readonly objectMarking: readonly string[] };
}

/** Makes it. */
export async function makeWorld(platform: RealPlatform): Promise<World> {
  // Ends in a letter: of a digit and what follows a point OpenCTI makes two words.
  const maker = new Maker(platform, `t${Date.now().toString(36)}x`);
  await maker.people();
  await maker.knowledge();
  return maker;
}

/** Makes what is looked at alone, where the people are there already. */
export async function makeKnowledge(platform: Pick<RealPlatform, "need">, run: string): Promise<World> {
  const maker = new Maker(platform, run);
  await maker.knowledge();
  return maker;
}

const LEVELS = [[], ["TLP:GREEN"], ["TLP:AMBER"], ["TLP:CLEAR"], ["TLP:RED"]] as const;
const HASHES = [
  ["MD5", 32],
  ["SHA-1", 40],
  ["SHA-256", 64],
] as const;

class Maker implements World {
  readonly emails: Record<string, string> = {};
  readonly ids: Record<string, string> = {};
  private readonly markings = new Map<string, string>();

  constructor(
    private readonly platform: Pick<RealPlatform, "need"> & { readonly tokens?: Map<string, string> },
    readonly run: string,
  ) {}

  async people(): Promise<void> {
    await this.knowMarkings();
    const ask = (query: string, variables: object = {}) => this.platform.need("root", query, variables);
    const { capabilities } = await ask("{ capabilities(first: 500) { edges { node { id name } } } }");
    const capability = new Map(
      capabilities.edges.map(({ node }: { node: { id: string; name: string } }) => [node.name, node.id]),
    );
    const link = "$id: ID!, $i: InternalRelationshipAddInput!";
    for (const [name, rights] of Object.entries(RIGHTS)) {
      const role = (
        await ask("mutation($i: RoleAddInput!) { roleAdd(input: $i) { id } }", { i: { name: `${name} ${this.run}` } })
      ).roleAdd.id;
      for (const one of [...rights.capabilities, "APIACCESS_USETOKEN"]) {
        const toId = capability.get(one);
        if (toId === undefined) throw new Error(`no capability ${one}`);
        await ask(`mutation(${link}) { roleEdit(id: $id) { relationAdd(input: $i) { id } } }`, {
          id: role,
          i: { toId, relationship_type: "has-capability" },
        });
      }
      const group_confidence_level = { max_confidence: rights.confidence, overrides: [] };
      const group = (
        await ask("mutation($i: GroupAddInput!) { groupAdd(input: $i) { id } }", {
          i: { name: `${name} ${this.run}`, group_confidence_level },
        })
      ).groupAdd.id;
      const groupEdit = `mutation(${link}) { groupEdit(id: $id) { relationAdd(input: $i) { id } } }`;
      await ask(groupEdit, { id: group, i: { toId: role, relationship_type: "has-role" } });
      for (const one of rights.markings)
        await ask(groupEdit, { id: group, i: { toId: this.markings.get(one), relationship_type: "accesses-to" } });
      const email = `${name}-${this.run}@truth.example`;
      const user = {
        name: `${name} ${this.run}`,
        user_email: email,
        password: "User-pass-1",
        prevent_default_groups: true,
        groups: [group],
      };
      const { id } = (await ask("mutation($i: UserAddInput!) { userAdd(input: $i) { id } }", { i: user })).userAdd;
      const token = await ask(
        "mutation($id: ID!, $i: UserTokenAddInput!) { userAdminTokenAdd(userId: $id, input: $i) { plaintext_token } }",
        { id, i: { name: "truth", duration: "UNLIMITED" } },
      );
      this.platform.tokens?.set(name, token.userAdminTokenAdd.plaintext_token);
      this.emails[name] = email;
    }
    this.emails.stranger = `stranger-${this.run}@truth.example`;
  }

  private async knowMarkings(): Promise<void> {
    const ask = "{ markingDefinitions(first: 500) { edges { node { id definition } } } }";
    const { markingDefinitions } = await this.platform.need("root", ask);
    for (const { node } of markingDefinitions.edges) {
      this.markings.set(node.definition, node.id);
      this.ids[node.definition] = node.id;
    }
  }

  async knowledge(): Promise<void> {
    await this.knowMarkings();
    const { run } = this;
    const level = (i: number) => this.marked(...(LEVELS[i % LEVELS.length] ?? []));
    this.ids.label = (
      await this.platform.need("root", "mutation($i: LabelAddInput!) { labelAdd(input: $i) { id } }", {
        i: { value: `label ${run}`, color: "#112233" },
      })
    ).labelAdd.id;
    this.ids.reference = (
      await this.platform.need(
        "root",
        "mutation($i: ExternalReferenceAddInput!) { externalReferenceAdd(input: $i) { id standard_id } }",
        { i: { source_name: `source ${run}`, url: `https://source.example/${run}` } },
      )
    ).externalReferenceAdd.id;
    await this.kept("author", "Organization", { name: `Author ${run}` });
    const common = (i: number) => ({
      ...level(i),
      createdBy: this.ids.author,
      ...(i % 2 === 0 && { objectLabel: [this.ids.label] }),
      confidence: 40 + (i % 4) * 10,
    });
    for (let i = 0; i < 25; i++)
      await this.kept(`malware${i}`, "Malware", {
        name: `Malware ${i} ${run}`,
        description: `spreads ${i % 3 === 0 ? "slowly" : "fast"} ${run}`,
        ...common(i),
      });
    for (let i = 0; i < 5; i++)
      await this.kept(`set${i}`, "Intrusion-Set", {
        name: `Set ${i} ${run}`,
        aliases: [`Alias ${i} ${run}`],
        ...level(i === 0 ? 0 : i),
      });
    for (let i = 0; i < 6; i++)
      await this.kept(`actor${i}`, "Threat-Actor-Group", {
        name: `Actor ${i} ${run}`,
        aliases: [`Other ${i} ${run}`],
        ...level(i),
      });
    await this.kept("person0", "Threat-Actor-Individual", { name: `Actor Person ${run}` });
    await this.kept("technique", "Attack-Pattern", { name: `Technique ${run}`, x_mitre_id: `T9${run.slice(-3)}` });
    for (const [key, name] of DECORATED) await this.kept(key, "Tool", { name: name.replace("RUN", run) });

    for (let i = 0; i < 12; i++)
      await this.observed(
        `ip${i}`,
        "IPv4-Addr",
        { value: this.address(i) },
        { m: level(i).objectMarking, s: (i * 9) % 100 },
      );
    for (let i = 0; i < 6; i++)
      await this.observed(
        `domain${i}`,
        "Domain-Name",
        { value: `c2-${i}.${run}.example` },
        { m: level(i).objectMarking },
      );
    await this.observed("url", "Url", { value: `https://c2-0.${run}.example/a/b?c=d` });
    await this.observed("longUrl", "Url", { value: `https://long.${run}.example/${"x".repeat(600)}` });
    for (let i = 0; i < 3; i++) {
      const hashes = HASHES.map(([algorithm, length]) => ({ algorithm, hash: this.hash(i, length) }));
      await this.observed(
        `file${i}`,
        "StixFile",
        { name: `drop-${i}-${run}.exe`, hashes },
        { m: level(i === 2 ? 4 : 0).objectMarking },
      );
    }
    const indicator = (key: string, value: string, more: object = {}) =>
      this.kept(key, "Indicator", {
        name: `Indicator ${key} ${run}`,
        pattern: `[domain-name:value = '${value}']`,
        pattern_type: "stix",
        x_opencti_main_observable_type: "Domain-Name",
        ...more,
      });
    const [past, soon, later] = ["2020-01-01T00:00:00.000Z", "2090-01-01T00:00:00.000Z", "2095-01-01T00:00:00.000Z"];
    await indicator("based", `c2-0.${run}.example`, { valid_from: past, valid_until: soon });
    await indicator("patternOnly", `only.${run}.example`, { valid_from: past, valid_until: soon });
    await indicator("hiddenPattern", `secret.${run}.example`, { ...this.marked("TLP:RED") });
    await indicator("notYet", `later.${run}.example`, { valid_from: soon, valid_until: later });
    await indicator("past", `past.${run}.example`, { valid_from: past, valid_until: "2021-01-01T00:00:00.000Z" });
    await this.kept("sigma", "Indicator", {
      name: `Sigma ${run}`,
      pattern: `title: Sigma ${run}\nlogsource:\n  category: proxy\ndetection:\n  selection:\n    c-uri: "https://sigma.${run}.example/x"\n  condition: selection\n`,
      pattern_type: "sigma",
      x_opencti_main_observable_type: "Url",
    });
    await this.relate(this.ids.based!, "based-on", this.ids.domain0!);

    for (let i = 0; i < 25; i++)
      await this.relate(this.ids.set0!, "uses", this.ids[`malware${i}`]!, { start_time: "2026-01-01T00:00:00.000Z" });
    for (let i = 0; i < 10; i++)
      await this.relate(this.ids.set0!, "uses", this.ids[`malware${i}`]!, { start_time: "2026-06-01T00:00:00.000Z" });
    await this.relate(this.ids.malware4!, "uses", this.ids.technique!);
    this.ids.inside = await this.relate(this.ids.set1!, "uses", this.ids.malware0!);

    const inside = ["set0", "malware0", "malware4", "malware1", "ip0", "domain0", "inside"].map((key) => this.ids[key]);
    for (let i = 0; i < 9; i++)
      await this.kept(`report${i}`, "Report", {
        name: `Report ${i} ${run}`,
        published: i < 6 ? "2026-03-03T00:00:00.000Z" : `2026-0${i - 4}-09T10:00:00.000Z`,
        report_types: i % 2 ? ["threat-report"] : ["internal-report"],
        ...(i < 2 && { objects: inside }),
        ...level(i),
      });
    for (let i = 0; i < 4; i++)
      await this.kept(`note${i}`, "Note", {
        attribute_abstract: `Note ${i} ${run}`,
        content: `About ${run}`,
        objects: [this.ids.report0],
        ...level(i),
      });
    await this.kept("many", "Grouping", {
      name: `Many ${run}`,
      context: "suspicious-activity",
      objects: Array.from({ length: 25 }, (_, i) => this.ids[`malware${i}`]),
    });
    await this.kept("around", "Report", {
      name: `Around ${run}`,
      published: "2026-02-02T00:00:00.000Z",
      objects: [this.ids.many, this.ids.report0],
    });
    await makeKinds(this, this.ids, (query, variables) => this.platform.need("root", query, variables));
  }

  marked(...names: string[]) {
    return { objectMarking: names.map((name) => this.markings.get(name) ?? name) };
  }

  address(i: number): string {
    return `${networkOf(this.run)}${i + 1}`;
  }

  hash(i: number, length: number): string {
    const seed = Buffer.from(`${i}${this.run}`).toString("hex");
    return seed.repeat(8).slice(0, length);
  }

  async make(type: string, input: object): Promise<string> {
    const name = type.replaceAll("-", "");
    const field = `${name.charAt(0).toLowerCase()}${name.slice(1)}Add`;
    const { made } = await this.platform.need(
      "root",
      `mutation($i: ${name}AddInput!) { made: ${field}(input: $i) { id } }`,
      { i: input },
    );
    return made.id;
  }

  async observe(type: string, fields: object, more: object = {}): Promise<string> {
    const name = type.replaceAll("-", "");
    const query = `mutation($v: ${name}AddInput, $m: [String], $s: Int) { made: stixCyberObservableAdd(type: "${type}", x_opencti_score: $s, objectMarking: $m, ${name}: $v) { id } }`;
    return (await this.platform.need("root", query, { v: fields, ...more })).made.id;
  }

  async relate(fromId: string, relationship_type: string, toId: string, more: object = {}): Promise<string> {
    const query = "mutation($i: StixCoreRelationshipAddInput) { made: stixCoreRelationshipAdd(input: $i) { id } }";
    return (await this.platform.need("root", query, { i: { fromId, toId, relationship_type, ...more } })).made.id;
  }

  private async kept(key: string, type: string, input: object): Promise<void> {
    this.ids[key] = await this.make(type, input);
  }

  private async observed(key: string, type: string, fields: object, more: object = {}): Promise<void> {
    this.ids[key] = await this.observe(type, fields, more);
  }
}

/** The addresses of a run, up to the last part. */
export function networkOf(run: string): string {
  const n = Number.parseInt(run.slice(-5), 36);
  return `10.${(n >> 8) & 255}.${n & 255}.`;
}

/** Names with what searches and filters take for something else. */
export const DECORATED: readonly (readonly [key: string, name: string])[] = [
  ["brackets", "[T1] Tool (RUN) {x}"],
  ["quotes", 'The "quoted" tool RUN'],
  ["stars", "Tool* RUN ?"],
  ["colons", "tool:RUN/part-1.2"],
  ["accents", "Énergie RUN"],
  ["apostrophe", "O'Tool \\ RUN"],
];
