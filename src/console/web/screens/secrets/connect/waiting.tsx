/** Leads to the provider, and waits until it has answered. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { buttonClass } from '../../../parts/button.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { ProgressMeter } from '../../../parts/page/progress.tsx'
import { CodeBlock } from '../../../parts/show/code_block.tsx'
import { CopyButton } from '../../../parts/show/copy.tsx'
import { useRepeatedAsk } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED, type SecretsPlace } from '../place.ts'
import type { Started } from './use_flow.ts'

const words = texts.connect
const ARRIVED_MS = 3_000

export function ConnectWaiting({ started, error }: { started: Started; error: unknown }) {
  const { url, device } = started
  const target = url ?? device?.verificationUrl
  return (
    <>
      {device ? (
        <div className="flex flex-col gap-2">
          <p>{words.enterCode}</p>
          <CopyButton text={device.userCode} name={words.code} />
        </div>
      ) : null}
      {target ? (
        <a
          className={buttonClass({ kind: 'primary' })}
          href={target}
          target="_blank"
          rel="noopener noreferrer"
        >
          {words.openProvider}
        </a>
      ) : null}
      <ProgressMeter label={words.waiting} />
      {error ? <FailureNote error={error} /> : null}
    </>
  )
}

type CommandProps = { command: string; place: SecretsPlace; name: string; after: number }

/** A server's console can't run the flow: a terminal does, and the secret arrives. */
export function WaitingForCommand({ command, place, name, after }: CommandProps) {
  const input = { ...place, key: name, after }
  const { data, error } = useRepeatedAsk('connections.arrived', input, ARRIVED_MS)
  const client = useQueryClient()
  const hasArrived = Boolean(data)
  useEffect(() => {
    if (!hasArrived) return
    for (const changed of CHANGED) void client.invalidateQueries({ queryKey: [changed] })
  }, [hasArrived, client])
  return (
    <>
      <p>{words.runCommand}</p>
      <CodeBlock text={command} name={words.command} />
      {data ? (
        <p role="status" className="font-medium text-green">
          {words.connected(name)}
        </p>
      ) : (
        <ProgressMeter label={words.waitingForCommand} />
      )}
      {error ? <FailureNote error={error} /> : null}
    </>
  )
}
