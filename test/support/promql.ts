import { parser } from "@prometheus-io/lezer-promql";

/** The metrics of an expression of PromQL, each with the labels that the expression names of it. */
export interface Named {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/** What an expression names. */
export interface Expression {
  readonly metrics: readonly Named[];
  /** The labels that it groups or joins by. */
  readonly labels: readonly string[];
}

/** Grafana writes these before it asks. */
const VARIABLES: Readonly<Record<string, string>> = { $__rate_interval: "5m", $__interval: "1m", $__range: "1h" };

/** Reads an expression. @throws Error where it is none. */
export function expressionOf(text: string): Expression {
  const expression = text.replace(/\$__\w+/g, (name) => VARIABLES[name] ?? name);
  const metrics: { metric: string; matchers: { label: string; op: string; value: string }[] }[] = [];
  const labels: string[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${expression}`);
      const said = expression.slice(node.from, node.to);
      if (node.name === "VectorSelector") metrics.push({ metric: "", matchers: [] });
      else if (node.name === "Identifier" && node.matchContext(["VectorSelector"]))
        (metrics.at(-1) as { metric: string }).metric = said;
      else if (node.name === "UnquotedLabelMatcher") {
        const [, label = "", op = "", value = ""] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(said) ?? [];
        metrics.at(-1)?.matchers.push({ label, op, value });
      } else if (node.name === "LabelName" && !node.matchContext(["UnquotedLabelMatcher"])) labels.push(said);
    },
  });
  return { metrics, labels };
}
