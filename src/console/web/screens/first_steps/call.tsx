/** The last step: the token, one block to copy, and the call as soon as it arrives. */
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { SecretValue } from '../../parts/show/secret_value.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { FirstAnswer } from './answer.tsx'
import { type Starter, terminalBlock } from './blocks.ts'
import { urlFor } from './providers.ts'

const words = texts.firstSteps.call

type Props = {
  workspaceId: string
  secret: string
  host: string
  starter: Starter
  tokenId: string
}

export function FirstCallStep({ workspaceId, secret, host, starter, tokenId }: Props) {
  const [url, setUrl] = useState(urlFor(secret, host))
  const [failed, setFailed] = useState<unknown>(null)
  const { data: addresses, error } = useAsk('agents.addresses', null)
  if (error) return <FailureNote error={error} />
  if (!addresses) return <SkeletonRows count={4} />
  return (
    <>
      <p className="text-ink-2">{words.how}</p>
      <CodeBlock text={terminalBlock(starter, { addresses, secret, url })} name={words.block} />
      {addresses.isUnknown ? <Banner kind="warning">{texts.newToken.unknown}</Banner> : null}
      <div className="grid max-w-160 gap-3">
        <div className="flex flex-col gap-1">
          <span className="font-medium">{words.token}</span>
          <SecretValue
            name={texts.newToken.name}
            read={() => ask('agents.newToken', { id: tokenId })}
            onError={setFailed}
          />
          <span className="text-small text-ink-2">{texts.newToken.once}</span>
        </div>
        {failed ? <FailureNote error={failed} /> : null}
        <TextField label={words.url} mono value={url} onChange={setUrl} />
      </div>
      <FirstAnswer workspaceId={workspaceId} tokenId={tokenId} />
    </>
  )
}
