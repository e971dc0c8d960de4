/** `cloakroom connect`: stores the root of a credential that calls derive. */
import { chooseProvider } from '../../../client/connect/choice.ts'
import { SECRET_NAME } from '../../../core/names/secret_name.ts'
import { type DerivedKind, derivedKinds } from '../../../core/policy/policy.ts'
import { command, type OptionValues } from '../../command.ts'
import {
  chooseParameters,
  flowOptions,
  providerOptions,
  resolveClient,
  selectScope,
} from '../../connecting/connect_options.ts'
import { keyOptions, readKeyRoot } from '../../connecting/key_root.ts'
import { demandAllowRole } from '../../connecting/root_hosts.ts'
import { providerFetchOf, runFlow, throwNotConnected } from '../../connecting/run_flow.ts'
import { type NewRoot, storeRoot } from '../../connecting/store_root.ts'
import type { Context } from '../../context.ts'
import { policyFieldOptions, yes } from '../../options.ts'
import { withFields } from '../../policies/fields.ts'
import { projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { readProvenSecrets } from '../../values/storing.ts'

const options = [
  ['--kind <kind>', `${derivedKinds.join(', ')}`, 'oauth2'],
  ...providerOptions,
  ...flowOptions,
  ...keyOptions,
  ...policyFieldOptions,
  yes,
] as const

type ConnectOptions = OptionValues<typeof options>

export default command({
  usage: 'connect <key>',
  examples: [
    'connect GOOGLE_TOKEN --provider google --client-id 1234.apps.googleusercontent.com --scope https://www.googleapis.com/auth/drive.readonly',
    'connect LINEAR_MCP --url https://mcp.linear.app/mcp',
    'connect GITHUB_APP --kind github_app --field client_id=Iv1.8a --field installation_id=42 --private-key app.pem',
    'connect AWS_KEY --kind aws_role --field access_key_id=AKIA1 --field role_arn=arn:aws:iam::1:role/agent --domains s3.eu-central-1.amazonaws.com',
  ],
  options,
  action: async (context, [name], options) => {
    const kind = kindOf(name, options)
    const scope = await projectScope(context)
    if (options.allow) demandAllowRole(scope)
    const before = (await readProvenSecrets(scope, [name])).get(name)
    const made =
      kind === 'oauth2'
        ? await connectProvider(context, name, options).catch(throwNotConnected)
        : await readKeyRoot(context, kind, name, options)
    const policy = withFields({ kind, allowed_domains: [...made.domains] }, options)
    const root = { key: name, value: made.value, policy: policy as NewRoot['policy'] }
    await storeRoot(context, scope, { ...root, expectedVersion: before?.version ?? 0 }, options)
  },
})

/** Before anybody is asked anything. @throws CliError */
function kindOf(name: string, { kind }: ConnectOptions): DerivedKind {
  if (!new RegExp(`^${SECRET_NAME}$`).test(name)) {
    throw new CliError('usage', `${name} is not a valid secret name: use letters, digits and _.`)
  }
  const known = derivedKinds.find((one) => one === kind)
  if (known) return known
  throw new CliError('usage', `--kind must be ${derivedKinds.join(', ')}.`)
}

async function connectProvider(context: Context, name: string, options: ConnectOptions) {
  const send = providerFetchOf(context)
  const chosen = await chooseProvider(options, send)
  const domains = chosen.domains
  if (domains.length === 0 && options.domains === undefined) {
    const hint = 'example: --domains api.example.com'
    throw new CliError('usage', 'Pass --domains with the hosts of the API.', hint)
  }
  const draft = {
    name,
    endpoints: chosen.endpoints,
    scope: selectScope(options, chosen),
    authorizeParameters: chooseParameters(options, chosen.preset),
    clientFor: (uri: string) => resolveClient(context, options, chosen, uri, send),
  }
  return { value: await runFlow(context, draft, options, send), domains }
}
