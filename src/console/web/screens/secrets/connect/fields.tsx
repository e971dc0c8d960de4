/** The provider, the client that is registered there, and its hosts. */
import { domainOf } from '../../../../../client/connect/domain_of.ts'
import { parseDomain } from '../../../../../core/net/domain.ts'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { Select } from '../../../parts/fields/select.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { TokenField } from '../../../parts/fields/token_field.tsx'
import { texts } from '../../../texts/index.ts'
import { type ConnectProvider, type Draft, hasRedirect, MCP, OTHER, withProvider } from './draft.ts'

const words = texts.connect

type Props = {
  draft: Draft
  onChange(draft: Draft): void
  providers: readonly ConnectProvider[]
  /** A command asks for it instead. */
  hasSecretField: boolean
}

export function ProviderFields({ draft, onChange, providers, hasSecretField }: Props) {
  const chosen = providers.find(({ name }) => name === draft.provider)
  const put = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  const isMcp = draft.provider === MCP
  return (
    <>
      <ProviderSelect draft={draft} onChange={onChange} providers={providers} />
      {isMcp ? <UrlField name="url" draft={draft} put={put} /> : null}
      {draft.provider === OTHER ? <UrlField name="issuer" draft={draft} put={put} /> : null}
      {isMcp ? null : (
        <ClientFields
          draft={draft}
          put={put}
          provider={chosen}
          hasSecretField={hasSecretField && chosen?.needsSecret !== false}
        />
      )}
      <TextField
        label={words.scope}
        help={words.scopeHelp}
        mono
        value={draft.scope}
        onChange={(scope) => put({ scope })}
      />
      {isMcp ? null : (
        <TokenField
          label={words.hosts}
          isRequired
          values={draft.domains}
          onChange={(domains) => put({ domains })}
          normalize={hostOf}
          validate={(host) => (parseDomain(host) === null ? words.badHost : null)}
        />
      )}
      {hasRedirect(draft.provider, chosen) ? (
        <TextField
          label={words.redirectUri}
          help={words.redirectHelp}
          mono
          isRequired
          value={draft.redirectUri}
          onChange={(redirectUri) => put({ redirectUri })}
        />
      ) : null}
      {chosen?.hasDevice ? (
        <Checkbox isSelected={draft.isDevice} onChange={(isDevice) => put({ isDevice })}>
          {words.device}
        </Checkbox>
      ) : null}
    </>
  )
}

function ProviderSelect({ draft, onChange, providers }: Omit<Props, 'hasSecretField'>) {
  const options = [
    { id: MCP, label: words.mcp },
    ...providers.map(({ name, title }) => ({ id: name, label: title })),
    { id: OTHER, label: words.other },
  ]
  const choose = (id: string) => {
    const provider = providers.find(({ name }) => name === id)
    onChange(withProvider(draft, id, provider))
  }
  return (
    <Select label={words.provider} options={options} value={draft.provider} onChange={choose} />
  )
}

type Part = { draft: Draft; put(change: Partial<Draft>): void }

function UrlField({ name, draft, put }: Part & { name: 'url' | 'issuer' }) {
  return (
    <TextField
      label={words[name]}
      type="url"
      mono
      isRequired
      value={draft[name]}
      onChange={(text) => put({ [name]: text })}
    />
  )
}

type ClientProps = Part & { provider: ConnectProvider | undefined; hasSecretField: boolean }

function ClientFields({ draft, put, provider, hasSecretField }: ClientProps) {
  return (
    <>
      {provider ? (
        <a
          className="w-fit font-medium text-accent-ink underline"
          href={provider.registerAt}
          target="_blank"
          rel="noopener noreferrer"
        >
          {words.register(provider.title)}
        </a>
      ) : null}
      <TextField
        label={words.clientId}
        mono
        isRequired
        autoComplete="off"
        value={draft.clientId}
        onChange={(clientId) => put({ clientId })}
      />
      {hasSecretField ? (
        <TextField
          label={words.clientSecret}
          type="password"
          autoComplete="off"
          isRequired={provider?.needsSecret === true}
          value={draft.clientSecret}
          onChange={(clientSecret) => put({ clientSecret })}
        />
      ) : null}
    </>
  )
}

/** A pasted URL is shortened to its host. */
function hostOf(text: string): string {
  const typed = text.trim()
  if (!URL.canParse(typed)) return typed
  return domainOf(typed)
}
