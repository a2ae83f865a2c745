import { Code, ConnectError } from "@connectrpc/connect";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Switch } from "react-aria-components";
import { ConnectionState, SettingService, type Settings } from "#api/catalogue/v1/setting_service_pb";
import { ago } from "../format";
import { useRefresh } from "../service/refresh";
import { writeSentenceOf } from "../service/transport";
import { StatusBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { Dialog } from "../ui/dialog";
import { Failure, Notice, Skeleton } from "../ui/notice";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";
import { tell } from "../ui/toasts";
import { RegistrationTokens } from "./registration-tokens";

const { getSettings, updateSettings, listPlatforms } = SettingService.method;

type Name = "platformServers" | "core" | "ai";

const SWITCHES: readonly {
  readonly name: Name;
  readonly title: string;
  readonly says: string;
  readonly stops: string;
}[] = [
  {
    name: "platformServers",
    title: "Platform MCP Servers",
    says: "Clients can call cti, aev and grc.",
    stops: "Every client of cti, aev and grc gets 403 from its next request on.",
  },
  {
    name: "core",
    title: "Platform Tools MCP Server",
    says: "Clients can call core: agents, runs, knowledge, skills and traces.",
    stops: "Every client of core gets 403 from its next request on.",
  },
  {
    name: "ai",
    title: "AI",
    says: "Agents run, and core can be served.",
    stops: "No run begins any more, and every client of core gets 403 from its next request on.",
  },
];

/** Settings > MCP Endpoint. */
export function Page() {
  const settings = useQuery(getSettings, {}, { staleTime: 0 });
  const platforms = useQuery(listPlatforms, {}, { refetchInterval: 15_000 });
  return (
    <>
      <div className="head">
        <div>
          <h1>MCP Endpoint</h1>
          <p>What the service serves, and the platforms behind it.</p>
        </div>
      </div>
      {settings.error ? (
        <Failure error={settings.error} what="The switches" retry={() => void settings.refetch()} />
      ) : settings.data?.settings === undefined ? (
        <Skeleton what="the switches" />
      ) : (
        <Switches now={settings.data.settings} reload={() => void settings.refetch()} />
      )}
      {platforms.error ? (
        <Failure error={platforms.error} what="The platforms" retry={() => void platforms.refetch()} />
      ) : platforms.isPending ? (
        <Skeleton what="the platforms" />
      ) : (
        <section className="panel" aria-labelledby="platforms">
          <div className="panel-bar">
            <h2 id="platforms">Platforms</h2>
          </div>
          <Table aria-labelledby="platforms" className="table">
            <TableHeader>
              <Column>Server</Column>
              <Column>Platform</Column>
              <Column>Address</Column>
              <Column>Status</Column>
              <Column>Heard of</Column>
            </TableHeader>
            <TableBody>
              {platforms.data.platforms.map((one) => (
                <Row key={`${one.server} ${one.id}`}>
                  <Cell isHeader>
                    <b>{one.server}</b>
                    {one.serves && <span className="tag">Serves</span>}
                  </Cell>
                  <Cell>
                    {one.title || <span className="faint">None is registered</span>} {one.version}
                  </Cell>
                  <Cell>{one.url && <code>{one.url}</code>}</Cell>
                  <Cell>
                    <StatusBadge status={STATE[one.state] ?? "absent"} />
                  </Cell>
                  <Cell>{one.lastSeenAt ? ago(one.lastSeenAt) : <span className="faint">Never</span>}</Cell>
                </Row>
              ))}
            </TableBody>
          </Table>
        </section>
      )}
      <RegistrationTokens />
    </>
  );
}

const STATE: Readonly<Partial<Record<ConnectionState, "connected" | "registered">>> = {
  [ConnectionState.CONNECTED]: "connected",
  [ConnectionState.REGISTERED]: "registered",
};

function Switches({ now, reload }: { now: Settings; reload: () => void }) {
  const refresh = useRefresh(getSettings);
  const [asked, setAsked] = useState<(typeof SWITCHES)[number]>();
  const update = useMutation(updateSettings, {
    onSuccess: () => {
      tell("Saved", "Every process applies it now.");
      setAsked(undefined);
      return refresh();
    },
    onError: () => setAsked(undefined),
  });
  const isConflict = update.error !== null && ConnectError.from(update.error).code === Code.Aborted;
  const turn = (name: Name, on: boolean): void => update.mutate({ [name]: on, expected: now });
  return (
    <section className="panel" aria-label="Switches">
      {update.error && (
        <Notice
          tone="error"
          title={isConflict ? "Somebody changed this since you opened it" : "It was not saved"}
          action={
            isConflict && (
              <Button
                onPress={() => {
                  update.reset();
                  reload();
                }}
              >
                Show theirs
              </Button>
            )
          }
        >
          {isConflict ? "Nothing of yours was saved." : writeSentenceOf(update.error)}
        </Notice>
      )}
      {SWITCHES.map((one) => (
        <div key={one.name} className="setting">
          <div>
            <b id={`switch-${one.name}`}>{one.title}</b>
            <p>{one.says}</p>
          </div>
          <Switch
            className="switch"
            aria-labelledby={`switch-${one.name}`}
            isSelected={now[one.name]}
            isDisabled={update.isPending}
            onChange={(on) => (on ? turn(one.name, true) : setAsked(one))}
          >
            <span className="track" />
            {now[one.name] ? "On" : "Off"}
          </Switch>
        </div>
      ))}
      <Dialog isOpen={asked !== undefined} isAlert onClose={() => setAsked(undefined)}>
        {(close) =>
          asked && (
            <Confirm
              title={`Switch ${asked.title} off?`}
              keep="Keep it on"
              doIt="Switch off"
              failed="It was not saved"
              work={{ isPending: update.isPending, error: null, run: () => turn(asked.name, false) }}
              close={close}
            >
              <p>{asked.stops}</p>
            </Confirm>
          )
        }
      </Dialog>
    </section>
  );
}
