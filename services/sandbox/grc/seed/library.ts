import { RISK_MATRIX } from "../kinds/matrices.js";
import { type Json, type Row, seededId } from "../world.js";
import { CSF, CSF_LEVELS, ISO } from "./frameworks.js";
import type { Sower } from "./sower.js";
import { ADVISORIES, CONTROLS, THREATS } from "./texts.js";

/** Seeds what all tenants share. */
export function seedLibrary(sower: Sower) {
  const { rootId } = sower.world;
  const shared = { annotation: null, library: seededId("library"), provider: "sallyport" };
  CONTROLS.forEach(([name, category, csf_function], i) => {
    const ref = `CTL.${String(i + 1).padStart(2, "0")}`;
    const urn = `urn:sallyport:risk:function:usual:${ref.toLowerCase()}`;
    sower.add("reference-controls", ref, rootId, name, { ...shared, ref_id: ref, urn, category, csf_function });
  });
  THREATS.forEach((name, i) => {
    const ref = `THR-${String(i + 1).padStart(3, "0")}`;
    sower.add("threats", ref, rootId, name, { ...shared, ref_id: ref, urn: `urn:sallyport:risk:threat:${i}` });
  });
  for (const [ref, name, score, exploited] of ADVISORIES) {
    sower.add("security-advisories", ref, rootId, name, {
      ...shared,
      ref_id: ref,
      urn: null,
      library: null,
      source: "CVE",
      published_date: `${ref.slice(4, 8)}-06-01`,
      cvss_base_score: score,
      is_actively_exploited: exploited,
    });
  }
  const { probability, impact, risk, grid } = RISK_MATRIX;
  const definition = { probability, impact, risk, grid };
  sower.add("risk-matrices", "5x5", rootId, "5x5 matrix", {
    ...shared,
    ref_id: "risk-matrix-5x5",
    urn: "urn:sallyport:risk:matrix:5x5",
    json_definition: JSON.stringify(definition),
  });
  csf(sower);
  iso(sower);
}

function frameworkOf(
  sower: Sower,
  key: string,
  ref: string,
  name: string,
  provider: string,
  more: Record<string, Json>,
): Row {
  const urn = `urn:sallyport:risk:framework:${key}`;
  const fields = { annotation: null, library: seededId(`library:${key}`), ref_id: ref, urn, provider, ...more };
  return sower.add("frameworks", key, sower.world.rootId, name, fields);
}

/** The one requirement that is scored by the answers to its questions. */
const QUESTIONED = "A.8.1";

/** The groups of the ISO framework: an audit may cover some of them. */
const GROUPS = [
  { ref_id: "Clauses", name: "Clauses", description: null },
  { ref_id: "SoA", name: "Statement of Applicability", description: null },
];

interface Node {
  readonly ref: string;
  readonly parent: string | null;
  readonly name: string | null;
  readonly text: string;
  readonly leaf: boolean;
  readonly groups?: readonly string[];
}

function node(sower: Sower, framework: Row, { ref, parent, name, text, leaf, groups = [] }: Node) {
  const urn = (id: string) => `${framework.urn}:${id.toLowerCase()}`;
  const key = `${framework.ref_id}:${ref}`;
  const count = sower.world.table("requirement-nodes").size;
  sower.add("requirement-nodes", key, sower.world.rootId, name, {
    description: text,
    annotation: null,
    urn: urn(ref),
    ref_id: ref,
    provider: framework.provider ?? null,
    parent_urn: parent === null ? null : urn(parent),
    order_id: count,
    assessable: leaf,
    questions: ref === QUESTIONED ? { "1": { type: "unique_choice", text: `${text}?`, choices: [] } } : null,
    framework: framework.id,
    implementation_groups: groups.length === 0 ? null : groups,
    reference_controls: leaf ? [seededId(`reference-controls:CTL.${String((count % 40) + 1).padStart(2, "0")}`)] : [],
  });
}

function csf(sower: Sower) {
  const scale = { min_score: 1, max_score: 4, scores_definition: CSF_LEVELS };
  const framework = frameworkOf(sower, "nist-csf-2.0", "NIST-CSF-2.0", "NIST CSF v2.0", "NIST", {
    description: "NIST Cybersecurity Framework",
    ...scale,
  });
  for (const [fn, name, categories] of CSF) {
    node(sower, framework, {
      ref: fn,
      parent: null,
      name: name,
      text: `The ${name} function of the framework`,
      leaf: false,
    });
    for (const [category, title, subcategories] of categories) {
      const ref = `${fn}.${category}`;
      node(sower, framework, { ref: ref, parent: fn, name: title, text: `${title} is in place`, leaf: false });
      for (const one of subcategories.split("|")) {
        node(sower, framework, {
          ref: `${ref}-${one.slice(0, 2)}`,
          parent: ref,
          name: null,
          text: one.slice(3),
          leaf: true,
        });
      }
    }
  }
}

function iso(sower: Sower) {
  const name = "International standard ISO/IEC 27001:2022";
  const framework = frameworkOf(sower, "iso27001-2022", "ISO/IEC 27001:2022", name, "ISO/IEC", {
    description: "Information security, cybersecurity and privacy protection",
    min_score: 0,
    max_score: 100,
    scores_definition: null,
    implementation_groups_definition: GROUPS,
  });
  for (const [ref, title, parts] of ISO) {
    const groups = [ref.startsWith("A") ? "SoA" : "Clauses"];
    node(sower, framework, { ref: ref, parent: null, name: title, text: title, leaf: false, groups });
    parts.split("|").forEach((part, i) => {
      node(sower, framework, { ref: `${ref}.${i + 1}`, parent: ref, name: part, text: part, leaf: true, groups });
    });
  }
}
