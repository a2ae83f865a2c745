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

interface Props {
  readonly endpoint: Endpoint;
  readonly value: Narrowed;
  readonly onChange: (value: Narrowed) => void;
}

/** Toolsets, read only and tenant of one server, in a package: folded away until somebody wants them. */
export function Narrowing(props: Props) {
  return (
    <details className="narrowing">
      <summary>Fewer tools: {inWords(props.value, props.endpoint)}</summary>
      <ToolChoice
        {...props}
        id={`narrow-${props.endpoint.server}`}
        onlyReading="In the package, only tools that read"
      />
    </details>
  );
}

/** The same, in sight. */
export function ToolChoice({
  id,
  onlyReading,
  endpoint: { toolsets, tenants },
  value,
  onChange,
}: Props & { readonly id: string; readonly onlyReading: string }) {
  return (
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
      <Switch className="switch" isSelected={value.readOnly} onChange={(readOnly) => onChange({ ...value, readOnly })}>
        <span className="track" />
        {onlyReading}
      </Switch>
      {tenants.length > 1 && (
        <Choice
          label="Tenant"
          value={value.tenant || "any"}
          items={[
            { id: "any", name: "Each call says which" },
            ...tenants.map((one) => ({ id: one.id, name: one.name })),
          ]}
          onChange={(tenant) => onChange({ ...value, tenant: tenant === "any" ? "" : tenant })}
        />
      )}
    </div>
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
