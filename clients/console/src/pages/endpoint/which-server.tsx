import { useState } from "react";
import { Heading, Label, Radio, RadioGroup } from "react-aria-components";
import { Button } from "../../ui/button";
import type { Format } from "./formats";
import { type InFile, KeyInFile } from "./key-in-file";
import { type Narrowed, Narrowing, WHOLE } from "./narrowing";
import type { Server } from "./server";

/** Asks for which server a package is, and says which key it gets. */
export function WhichServer({
  format,
  servers,
  inFile,
  isPending,
  onChosen,
  close,
}: {
  format: Format;
  servers: readonly Server[];
  inFile: InFile;
  isPending: boolean;
  onChosen: (server: string, narrowed: Narrowed) => void;
  close: () => void;
}) {
  const [chosen, setChosen] = useState(servers[0]?.endpoint.server ?? "");
  const [narrowed, setNarrowed] = useState<Narrowed>(WHOLE);
  const endpoint = servers.map((one) => one.endpoint).find(({ server }) => server === chosen);
  return (
    <>
      <Heading slot="title">{format.name}: which server?</Heading>
      <RadioGroup
        value={chosen}
        onChange={(server) => {
          setChosen(server);
          setNarrowed(WHOLE);
        }}
        className="checks"
      >
        <Label>One package is for one server.</Label>
        {servers.map(({ endpoint: { server, title, tools } }) => (
          <Radio key={server} value={server} className="check">
            <span className="box round" />
            {server}: {title}, {tools} {tools === 1 ? "tool" : "tools"}
          </Radio>
        ))}
      </RadioGroup>
      <KeyInFile {...inFile} server={chosen} format={format} />
      {endpoint && <Narrowing endpoint={endpoint} value={narrowed} onChange={setNarrowed} />}
      <div className="actions">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" isPending={isPending} onPress={() => onChosen(chosen, narrowed)}>
          Download
        </Button>
      </div>
    </>
  );
}
