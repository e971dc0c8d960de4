/** What is open beside the matrix: one thing at a time, named by the address. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { texts } from '../../texts/index.ts'
import { NewSecret } from './add.tsx'
import { Compare } from './compare.tsx'
import { Deleted } from './deleted.tsx'
import { SecretInspector } from './inspector/index.tsx'
import { Policies } from './inspector/policies.tsx'
import { NewEnvironment, NewProject } from './new_project.tsx'
import { type PaneProps, secretsRoute, useGo, useMayHere } from './place.ts'
import { Importing } from './transfers/importing.tsx'
import { Transfer } from './transfers/transfer.tsx'

const words = texts.secrets

/** What needs no more than reading. */
const READING = new Set(['compare', 'deleted'])

export function Panes(props: PaneProps) {
  const { pane, key, environment } = secretsRoute.useSearch()
  const { environments } = props.matrix
  const writes = useMayHere('secret.write')
  const where = environments.find((name) => name === environment) ?? environments[0] ?? ''
  if (key !== undefined && where !== '') {
    return <SecretInspector key={`${key} ${where}`} {...props} name={key} environment={where} />
  }
  const isOpen = pane !== undefined && (writes || READING.has(pane))
  const shown = isOpen ? paneOf(pane, props, where) : undefined
  return shown ? (
    <Pane key={pane} title={shown.title}>
      {shown.content}
    </Pane>
  ) : null
}

function paneOf(pane: string, props: PaneProps, environment: string) {
  const { place, keys } = props
  const count = keys.length
  const panes: Record<string, { title: string; content: ReactNode }> = {
    new: { title: words.add, content: <NewSecret {...props} environment={environment} /> },
    import: { title: words.import, content: <Importing {...props} environment={environment} /> },
    compare: { title: words.compareTitle, content: <Compare {...props} /> },
    deleted: {
      title: words.deletedTitle,
      content: <Deleted {...props} environment={environment} />,
    },
    copy: {
      title: words.copyTitle(count, environment),
      content: <Copying {...props} environment={environment} />,
    },
    policy: {
      title: texts.policies.bulkTitle(count, environment),
      content: <Policies {...props} environment={environment} />,
    },
    environment: { title: words.newEnvironment, content: <NewEnvironment {...place} /> },
    project: { title: words.newProject, content: <NewProject {...place} /> },
  }
  const needsKeys = pane === 'copy' || pane === 'policy'
  return needsKeys && count === 0 ? undefined : panes[pane]
}

/** Takes the focus as it opens, and gives it back; Escape closes it. */
function Pane({ title, children }: { title: string; children: ReactNode }) {
  const go = useGo()
  const heading = useRef<HTMLHeadingElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    heading.current?.focus()
    // On a phone the pane opens above the table.
    heading.current?.scrollIntoView({ block: 'nearest' })
    return () => {
      // Not where somebody works elsewhere by now.
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus()
    }
  }, [])
  const close = () => go({ pane: undefined, key: undefined })
  return (
    <section
      className="pane stack"
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      <div className="pane-head">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="ghost" onPress={close}>
          {texts.common.close}
        </Button>
      </div>
      {children}
    </section>
  )
}

const copyingWords = texts.secrets

function Copying({ place, matrix, keys, environment }: PaneProps & { environment: string }) {
  const go = useGo()
  const others = matrix.environments.filter((name) => name !== environment)
  const [to, setTo] = useState<string | null>(null)
  const chosen = others.find((name) => name === to) ?? null
  return (
    <div className="stack">
      <Select
        label={copyingWords.copyTarget}
        options={others.map((id) => ({ id, label: id }))}
        value={chosen}
        onChange={setTo}
      />
      {chosen === null ? null : (
        <Transfer
          key={chosen}
          to={{ ...place, environment: chosen }}
          source={{ from: { ...place, environment }, keys }}
          isEmpty={keys.length === 0}
          onDone={() => go({ pane: undefined })}
        />
      )}
    </div>
  )
}
