/** A token that was just made: shown when somebody asks, copied without being shown, and how programs take it. */
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Reveal } from '../../parts/reveal.tsx'
import { Snippet } from '../../parts/snippet.tsx'
import { Banner } from '../../parts/states/banner.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import type { Made } from './draft.ts'
import {
  type Addresses,
  ci,
  commandFor,
  curl,
  fileFor,
  mcpPrograms,
  sdk,
  variables,
} from './set_up.ts'

const words = texts.newToken

export function NewToken({ made, done }: { made: Made; done(): void }) {
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
        <Reveal name={words.name} read={() => ask('agents.newToken', { id })} onError={setFailed} />
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

type Props = { made: Made; addresses: Addresses }

function SetUp({ made, addresses }: Props) {
  const { kind, mayRead } = made
  const { resolver } = addresses
  const others = [
    { id: 'curl', label: 'curl', content: <Told text={curl} why={words.call} /> },
    { id: 'sdk', label: 'SDKs', content: <Told text={sdk} why={words.sdk} /> },
    {
      id: 'ci',
      label: 'CI',
      content: <Told text={ci(addresses, mayRead)} why={mayRead ? words.ci : words.ciUse} />,
    },
  ]
  const tabs = mcpPrograms.map(([id, program]) => ({
    id,
    label: program.title,
    content: (
      <div className="stack">
        <Told text={commandFor(id, made)} why={words.atMachine} />
        <File path={program.project[0] ?? ''} text={fileFor(program, resolver)} />
      </div>
    ),
  }))
  return (
    <>
      <p>{words.environment}</p>
      {addresses.isUnknown ? <Banner kind="warning">{words.unknown}</Banner> : null}
      <Snippet text={variables(addresses)} name={words.environment} />
      <Tabs
        label={words.setUp}
        tabs={kind === 'workload' ? others.reverse() : [...tabs, ...others]}
      />
    </>
  )
}

function File({ path, text }: { path: string; text: string | null }) {
  return text === null ? null : <Told text={text} why={words.elsewhere(path)} />
}

function Told({ text, why }: { text: string; why: string }) {
  return (
    <div className="stack">
      <p>{why}</p>
      <Snippet text={text} name={words.file} />
    </div>
  )
}
