import { expect, test } from "vitest";
import { capabilitiesOf } from "../../../services/platform-proxy/platforms/aev/adapter.js";
import { PLATFORMS } from "../../../services/shared/platforms.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";

// What `(platform.v1.needs)` names has to be a word that the platform itself
// says of a caller: with any other the tool is hidden from everybody who is no
// administrator there.

const tools = readTools(readImage()).filter(({ server }) => server !== "core");

/** OpenCTI 6: the capabilities of data-initialization.js that begin so, each under those above it. */
const OPENCTI = new Set(
  [
    "KNOWLEDGE",
    "KNOWLEDGE_KNPARTICIPATE KNOWLEDGE_KNFRONTENDEXPORT KNOWLEDGE_KNUPLOAD KNOWLEDGE_KNASKIMPORT",
    "KNOWLEDGE_KNUPDATE KNOWLEDGE_KNUPDATE_KNORGARESTRICT KNOWLEDGE_KNUPDATE_KNDELETE KNOWLEDGE_KNUPDATE_KNMERGE",
    "KNOWLEDGE_KNUPDATE_KNMANAGEAUTHMEMBERS KNOWLEDGE_KNUPDATE_KNBYPASSREFERENCE KNOWLEDGE_KNUPDATE_KNBYPASSFIELDS",
    "KNOWLEDGE_KNGETEXPORT KNOWLEDGE_KNGETEXPORT_KNASKEXPORT KNOWLEDGE_KNENRICHMENT KNOWLEDGE_KNDISSEMINATION",
    "SETTINGS SETTINGS_SETLABELS SETTINGS_SETMARKINGS",
  ].flatMap((line) => line.split(" ")),
);

/** OpenAEV 2: the enum Capability, as far as it is of a tenant. */
const OPENAEV = new Set([
  ...[
    "ASSESSMENT TEAMS_AND_PLAYERS ASSETS PAYLOADS DASHBOARDS FINDINGS DOCUMENTS CHANNELS CHALLENGES",
    "LESSONS_LEARNED SECURITY_PLATFORMS TENANT_SETTINGS",
  ]
    .flatMap((line) => line.split(" "))
    .flatMap((of) => ["ACCESS", "MANAGE", "DELETE"].map((verb) => `${verb}_${of}`)),
  "LAUNCH_ASSESSMENT",
  "MANAGE_STIX_BUNDLE",
]);

/** CISO Assistant 3: the models that its roles speak of, each with Django's four permissions. */
const CISO_ASSISTANT = new Set(
  [
    "answer appliedcontrol asset complianceassessment ebiosrmstudy entity evidence evidencerevision finding",
    "findingsassessment folder framework incident operationalscenario perimeter policy referencecontrol",
    "requirementassessment requirementmappingset requirementnode riskacceptance riskassessment riskmatrix riskscenario",
    "securityexception threat user vulnerability securityadvisory quantitativeriskstudy quantitativeriskscenario",
  ]
    .flatMap((line) => line.split(" "))
    .flatMap((model) => ["view", "add", "change", "delete"].map((verb) => `${verb}_${model}`)),
);

/** Our own words for a platform, which its adapter adds to what the platform says: those that `rights` explains. */
const oursFor = (server: string) => Object.keys(PLATFORMS.find(({ name }) => name === server)?.rights ?? {});

const WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  cti: OPENCTI,
  aev: new Set([...OPENAEV, ...oursFor("aev")]),
  grc: new Set([...CISO_ASSISTANT, ...oursFor("grc")]),
};

function unknownIn(some: readonly Tool[]): readonly string[] {
  return some.flatMap(({ server, name, needs }) =>
    needs.filter((word) => WORDS[server]?.has(word) !== true).map((word) => `${server}/${name}: ${word}`),
  );
}

test("every right that a tool needs is one of the platform's own names", () => {
  expect(tools.flatMap(({ needs }) => needs).length).toBeGreaterThan(50);
  const fix = "correct (platform.v1.needs), or add the right to the names above if the platform has it";
  expect(unknownIn(tools), fix).toEqual([]);
});

test("a word of another platform, or mistyped, is found", () => {
  const [tool] = tools.filter(({ server }) => server === "cti");
  const wrong = ["ACCESS_ASSESSMENT", "KNOWLEDGE_KNDELETE", "knowledge"];
  const found = unknownIn([{ ...(tool as Tool), needs: ["KNOWLEDGE", ...wrong] }]);
  expect(found).toEqual(wrong.map((word) => `cti/${tool?.name}: ${word}`));
});

test("our own words are said of whom OpenAEV lets manage assessments, and see them or what they are of", () => {
  const said = (...user_capabilities: string[]) =>
    capabilitiesOf({ user: { user_email: "a@example.org", user_capabilities, user_grants: {} }, tenants: [] } as never);
  expect(oursFor("aev").filter((word) => OPENAEV.has(word))).toEqual([]);
  expect(said("MANAGE_ASSESSMENT")).toContain("CREATE_ASSESSMENT");
  for (const right of ["ACCESS_FINDINGS", "ACCESS_ASSESSMENT", "ACCESS_ASSETS"]) {
    expect(said(right)).toContain("SEARCH_FINDINGS");
  }
  expect(said("ACCESS_PAYLOADS")).not.toContain("SEARCH_FINDINGS");
});
