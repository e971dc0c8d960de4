/** A token that was just created: revealed on request, copied without being shown, and blocks that set programs up. */
import { useState } from 'react'
import { programs } from '../../../../../client/agents/agent_setup.ts'
import {
  commandFor,
  curl,
  fileFor,
  formatTokenCommand,
  githubActions,
  gitlabCi,
  type ProgramAddresses,
  runText,
  sdks,
  variables,
} from '../../../../../client/agents/set_up_texts.ts'
import { ask } from '../../../keys/ask.ts'
import { Select } from '../../../parts/fields/select.tsx'
import { Banner } from '../../../parts/page/banner.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { CodeBlock } from '../../../parts/show/code_block.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { useAsk } from '../../../queries.ts'
import { useTerminalCommand } from '../../../terminal.ts'
import { texts } from '../../../texts/index.ts'
import type { MadeToken } from './draft.ts'

const words = texts.newToken

export function CreatedToken({ made }: { made: MadeToken }) {
  const [failed, setFailed] = useState<unknown>(null)
  const { data: addresses, error } = useAsk('agents.addresses', null)
  return (
    <div className="flex flex-col gap-4">
      <Banner kind="warning">{words.once}</Banner>
      <SecretValue
        name={words.name}
        read={() => ask('agents.newToken', { id: made.id })}
        onError={setFailed}
      />
      {failed ? <FailureNote error={failed} /> : null}
      {error ? <FailureNote error={error} /> : null}
      {addresses ? <SetUp made={made} addresses={addresses} /> : null}
      {addresses || error ? null : <SkeletonRows count={4} />}
    </div>
  )
}

type Props = { made: MadeToken; addresses: ProgramAddresses & { isUnknown: boolean } }

function SetUp({ made, addresses }: Props) {
  const complete = useTerminalCommand()
  const ofJobs = jobTabs(made, addresses)
  const ofCalls = made.may.includes('use') ? callTabs(made, complete) : []
  const tabs =
    made.kind === 'workload'
      ? [...ofJobs, ...ofCalls]
      : [...(ofCalls.length > 0 ? mcpTabs(made, addresses, complete) : []), ...ofCalls, ...ofJobs]
  const [chosen, setChosen] = useState(tabs[0]?.id ?? '')
  return (
    <>
      {tabs.length > 0 ? (
        <Select label={words.setUp} options={tabs} value={chosen} onChange={setChosen} />
      ) : (
        <p>{words.severalPlaces}</p>
      )}
      {tabs.find(({ id }) => id === chosen)?.content}
      {addresses.isUnknown ? <Banner kind="warning">{words.unknown}</Banner> : null}
      <CodeBlock text={variables(addresses)} name={words.environment} />
    </>
  )
}

function mcpTabs(
  made: MadeToken,
  { resolver }: ProgramAddresses,
  complete: (command: string) => string,
) {
  return Object.entries(programs).map(([id, program]) => ({
    id,
    label: program.title,
    content: (
      <div className="flex flex-col gap-3">
        <Block text={commandFor(id, made, complete)} why={words.atMachine} />
        <File path={program.project[0] ?? ''} text={fileFor(program, resolver)} />
      </div>
    ),
  }))
}

function callTabs({ kind, name }: MadeToken, complete: (command: string) => string) {
  const sdk = sdks.map(({ id, label, text }) => (
    <div key={id} className="flex flex-col gap-3">
      {kind === 'agent' ? (
        <Block
          text={`${complete(formatTokenCommand(text, name).trimEnd())}\n`}
          why={words.narrowed}
        />
      ) : null}
      <Block text={text} why={label} />
    </div>
  ))
  return [
    { id: 'curl', label: 'curl', content: <Block text={curl} why={words.call} /> },
    {
      id: 'sdk',
      label: 'SDKs',
      content: (
        <div className="flex flex-col gap-3">
          <p>{words.sdk}</p>
          {sdk}
        </div>
      ),
    },
  ]
}

/** Values are delivered for one environment; a token that can't read them makes a call instead. */
function jobTabs({ may, project, environment }: MadeToken, addresses: ProgramAddresses) {
  const isDelivered = may.includes('read') && project !== null && environment !== null
  if (!isDelivered && !may.includes('use')) return []
  const why = isDelivered ? words.ci : words.ciUse
  const jobs = (text: string, where: string) => (
    <div className="flex flex-col gap-3">
      <p>{where}</p>
      <Block text={text} why={why} />
    </div>
  )
  return [
    ...(isDelivered
      ? [{ id: 'run', label: 'cloakroom run', content: <Block text={runText} why={words.run} /> }]
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
  return text === null ? null : <Block text={text} why={words.elsewhere(path)} name={path} />
}

function Block({ text, why, name = words.file }: { text: string; why: string; name?: string }) {
  return (
    <div className="flex flex-col gap-3">
      <p>{why}</p>
      <CodeBlock text={text} name={name} />
    </div>
  )
}
