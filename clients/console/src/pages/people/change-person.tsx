import { useMutation } from "@connectrpc/connect-query";
import { GroupService } from "#api/auth/v1/group_service_pb";
import { UpdateUserRequestSchema, type User, UserService } from "#api/auth/v1/user_service_pb";
import { useRefresh } from "../../service/refresh";
import { type FormValues, MessageForm } from "../../ui/message-form";
import { tell } from "../../ui/toasts";
import { leftBehindInWords } from "./left-behind";

/** Changes what is changed in the form, unless somebody else changed the person meanwhile. */
export function ChangePerson({
  user,
  groups,
  showTheirs,
  close,
}: {
  user: User;
  groups: readonly { id: string; name: string }[];
  /** Reads the person again. */
  showTheirs: () => void;
  close: () => void;
}) {
  const title = `Change ${user.name}`;
  const refresh = useRefresh(UserService.method.listUsers, GroupService.method.listGroups);
  const { isPending, error, mutate } = useMutation(UserService.method.updateUser, {
    onSuccess: ({ leftBehind }) => {
      tell("Saved", leftBehindInWords(leftBehind));
      close();
      return refresh();
    },
  });
  const before: FormValues = {
    name: user.name,
    admin: user.admin,
    disabled: user.disabled,
    groups: [...user.groups],
    password: "",
  };
  function run(values: FormValues): void {
    const changed = Object.entries(values).filter(([name, value]) => String(value) !== String(before[name]));
    const { groups: ids, ...rest } = Object.fromEntries(changed);
    mutate({
      ...{ id: user.id, ...rest, expected: user },
      ...(ids !== undefined && { groups: { ids: [...(ids as readonly string[])] } }),
    });
  }
  return (
    <MessageForm
      schema={UpdateUserRequestSchema}
      fields={{
        name: { label: "Name", isRequired: true },
        admin: { label: "Administers the service" },
        disabled: { label: "Disabled: nothing of theirs is served" },
        groups: { label: "Groups", choices: groups, help: "There is no group yet." },
        password: { label: "New password", help: "Leave it empty to keep theirs. They choose another one first." },
      }}
      initial={before}
      title={title}
      submit="Save"
      failed="It was not saved"
      about={user.id}
      showTheirs={showTheirs}
      work={{ isPending, error, run }}
      close={close}
    />
  );
}
