/** A token that was just made: shown when somebody asks, copied without being shown, and how programs take it. */
import { useState } from 'react'
import { programs } from '../../../../client/agents/agent_setup.ts'
import {
  commandFor,
  curl,
  fileFor,
  githubActions,
  gitlabCi,
  narrowedTokenFor,
  type ProgramAddresses,
  runText,
  sdks,
  variables,
} from '../../../../client/agents/set_up_texts.ts'
import { ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { SecretValue } from '../../parts/show/secret_value.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import type { MadeToken } from './draft.ts'

const words = texts.newToken

export function NewTokenDialog({ made, done }: { made: MadeToken; done(): void }) {
  const { id } = made
  const [failed, setFailed] = useState<unknown>(null)
  const { data: addresses, error } = useAsk('agents.addresses', null)
  const close = () => {
    void ask('agents.forgetToken', { id })
    done()
  }
  return (
    <section className="stack">
      <h2 className="card-title">{words.title}</h2>
      <Banner kind="warning">{words.once}</Banner>
      <div>
        <SecretValue
          name={words.name}
          read={() => ask('agents.newToken', { id })}
          onError={setFailed}
        />
      </div>
      {failed ? <FailureNote error={failed} /> : null}
      <h2 className="card-title">{words.setUp}</h2>
      {error ? <FailureNote error={error} /> : null}
      {addresses ? <SetUp made={made} addresses={addresses} /> : <Loading />}
      <div>
        <Button kind="primary" onPress={close}>
          {words.close}
        </Button>
      </div>
    </section>
  )
}

type Props = { made: MadeToken; addresses: ProgramAddresses & { isUnknown: boolean } }

function SetUp({ made, addresses }: Props) {
  const ofJobs = jobTabs(made, addresses)
  const ofCalls = made.may.includes('use') ? callTabs(made) : []
  const tabs =
    made.kind === 'workload'
      ? [...ofJobs, ...ofCalls]
      : [...(ofCalls.length > 0 ? mcpTabs(made, addresses) : []), ...ofCalls, ...ofJobs]
  return (
    <>
      <p>{words.environment}</p>
      {addresses.isUnknown ? <Banner kind="warning">{words.unknown}</Banner> : null}
      <CodeBlock text={variables(addresses)} name={words.environment} />
      {tabs.length > 0 ? <Tabs label={words.setUp} tabs={tabs} /> : <p>{words.severalPlaces}</p>}
    </>
  )
}

function mcpTabs(made: MadeToken, { resolver }: ProgramAddresses) {
  return Object.entries(programs).map(([id, program]) => ({
    id,
    label: program.title,
    content: (
      <div className="stack">
        <Told text={commandFor(id, made)} why={words.atMachine} />
        <File path={program.project[0] ?? ''} text={fileFor(program, resolver)} />
      </div>
    ),
  }))
}

function callTabs({ kind, name }: MadeToken) {
  const sdk = sdks.map(({ id, label, text }) => (
    <div key={id} className="stack">
      {kind === 'agent' ? <Told text={narrowedTokenFor(text, name)} why={words.narrowed} /> : null}
      <Told text={text} why={label} />
    </div>
  ))
  return [
    { id: 'curl', label: 'curl', content: <Told text={curl} why={words.call} /> },
    {
      id: 'sdk',
      label: 'SDKs',
      content: (
        <div className="stack">
          <p>{words.sdk}</p>
          {sdk}
        </div>
      ),
    },
  ]
}

/** Values are delivered of one environment; who may not read calls instead. */
function jobTabs({ may, project, environment }: MadeToken, addresses: ProgramAddresses) {
  const isDelivered = may.includes('read') && project !== null && environment !== null
  if (!isDelivered && !may.includes('use')) return []
  const why = isDelivered ? words.ci : words.ciUse
  const jobs = (text: string, where: string) => (
    <div className="stack">
      <p>{where}</p>
      <Told text={text} why={why} />
    </div>
  )
  return [
    ...(isDelivered
      ? [{ id: 'run', label: 'cloakroom run', content: <Told text={runText} why={words.run} /> }]
      : []),
    {
      id: 'github',
      label: 'GitHub Actions',
      content: jobs(githubActions(addresses, isDelivered), words.github),
    },
    {
      id: 'gitlab',
      label: 'GitLab CI',
      content: jobs(gitlabCi(addresses, isDelivered), words.gitlab),
    },
  ]
}

function File({ path, text }: { path: string; text: string | null }) {
  return text === null ? null : <Told text={text} why={words.elsewhere(path)} />
}

function Told({ text, why }: { text: string; why: string }) {
  return (
    <div className="stack">
      <p>{why}</p>
      <CodeBlock text={text} name={words.file} />
    </div>
  )
}
