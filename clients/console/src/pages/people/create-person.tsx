import { useMutation } from "@connectrpc/connect-query";
import { GroupService } from "#api/auth/v1/group_service_pb";
import { CreateUserRequestSchema, UserService } from "#api/auth/v1/user_service_pb";
import { useRefresh } from "../../service/refresh";
import { MessageForm } from "../../ui/message-form";
import { tell } from "../../ui/toasts";

const TITLE = "New person";

/** The form for a new person. */
export function CreatePerson({
  groups,
  close,
}: {
  groups: readonly { id: string; name: string }[];
  close: () => void;
}) {
  const refresh = useRefresh(UserService.method.listUsers, GroupService.method.listGroups);
  const { isPending, error, mutate } = useMutation(UserService.method.createUser, {
    onSuccess: ({ user }) => {
      tell(`${user?.name} can sign in`, "With the password that you set, they choose their own first.");
      close();
      return refresh();
    },
  });
  return (
    <MessageForm
      schema={CreateUserRequestSchema}
      fields={{
        name: { label: "Name", isRequired: true },
        email: { label: "E-mail address", isRequired: true },
        password: {
          label: "First password",
          help: "At least 12 characters. Leave it empty for somebody who signs in at a provider, or with keys alone.",
        },
        admin: { label: "Administers the service" },
        groups: { label: "Groups", choices: groups, help: "There is no group yet." },
      }}
      initial={{ admin: false, groups: [] }}
      title={TITLE}
      submit="Create person"
      failed="The person was not created"
      work={{
        isPending,
        error,
        run: ({ password, ...rest }) => mutate({ ...rest, ...(password !== "" && { password: password as string }) }),
      }}
      close={close}
    />
  );
}
