import { Switch, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import type { Endpoint } from "#api/catalogue/v1/endpoint_service_pb";
import { Choice } from "../../ui/choice";

/** How the person narrows the list of a server. */
export interface Narrowed {
  /** Names; none for all. */
  readonly toolsets: readonly string[];
  readonly readOnly: boolean;
  /** "" if each call says which. */
  readonly tenant: string;
}

/** Every tool. */
export const WHOLE: Narrowed = { toolsets: [], readOnly: false, tenant: "" };

/** Toolsets, read only and tenant of one server, folded away until somebody wants them. */
export function Narrowing({
  endpoint,
  value,
  onChange,
}: {
  endpoint: Endpoint;
  value: Narrowed;
  onChange: (value: Narrowed) => void;
}) {
  const { server, toolsets, tenants } = endpoint;
  const id = `narrow-${server}`;
  return (
    <details className="narrowing">
      <summary>Fewer tools: {inWords(value, endpoint)}</summary>
      <div className="toolsets">
        <span id={id}>Toolsets (all if none is chosen)</span>
        <ToggleButtonGroup
          aria-labelledby={id}
          selectionMode="multiple"
          className="pills"
          selectedKeys={value.toolsets}
          onSelectionChange={(keys) => onChange({ ...value, toolsets: [...keys].map(String) })}
        >
          {toolsets.map(({ name, tools }) => (
            <ToggleButton key={name} id={name} className="pill">
              {name} <small>{tools}</small>
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
        <Switch
          className="switch"
          isSelected={value.readOnly}
          onChange={(readOnly) => onChange({ ...value, readOnly })}
        >
          <span className="track" />
          In the package, only tools that read
        </Switch>
        {tenants.length > 1 && (
          <Choice
            label="Tenant"
            value={value.tenant || "any"}
            items={[{ id: "any", name: "Each call says which" }, ...tenants.map(({ id, name }) => ({ id, name }))]}
            onChange={(tenant) => onChange({ ...value, tenant: tenant === "any" ? "" : tenant })}
          />
        )}
      </div>
    </details>
  );
}

function inWords({ toolsets, readOnly, tenant }: Narrowed, { tenants }: Endpoint): string {
  const said = [
    ...toolsets,
    ...(readOnly ? ["only tools that read"] : []),
    ...tenants.filter(({ id }) => id === tenant).map(({ name }) => name),
  ];
  return said.length === 0 ? "all of yours are in the package" : said.join(", ");
}
