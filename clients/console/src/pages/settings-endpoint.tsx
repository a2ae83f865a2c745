import { Code, ConnectError } from "@connectrpc/connect";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Switch } from "react-aria-components";
import { SettingService, type Settings } from "#api/catalogue/v1/setting_service_pb";
import { useRefresh } from "../service/refresh";
import { writeSentenceOf } from "../service/transport";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { Dialog } from "../ui/dialog";
import { Failure, Notice, Skeleton } from "../ui/notice";
import { tell } from "../ui/toasts";
import { Platforms } from "./platforms";
import { RegistrationTokens } from "./registration-tokens";

const { getSettings, updateSettings } = SettingService.method;

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
      <Platforms />
      <RegistrationTokens />
    </>
  );
}

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
