/** The button by which a passkey logs in, or unlocks a session that is there. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { ask } from '../keys/ask.ts'
import { Button } from '../parts/button.tsx'
import { FailureNote } from '../parts/page/failure.tsx'
import { texts } from '../texts/index.ts'
import { enterByPasskey, type PasskeyStay, unlockByPasskey } from './ceremonies.ts'
import { usePasskeysHere } from './here.ts'

type Props = { isLocked: boolean; staying: PasskeyStay }

export default function UsePasskey({ isLocked, staying }: Props) {
  const isHere = usePasskeysHere()
  if (!isHere) return null
  if (isLocked) return <Unlock staying={staying} />
  return <Ceremony words={texts.passkeys.logIn} run={() => enterByPasskey(staying)} />
}

/** Nothing for who has none that can. */
function Unlock({ staying }: { staying: PasskeyStay }) {
  const { data = [] } = useQuery({
    queryKey: ['passkeys.toUnlock'],
    queryFn: () => ask('passkeys.list', null),
  })
  const able = data.filter((one) => one.can_unlock && one.rp_id === location.hostname)
  if (able.length === 0) return null
  return <Ceremony words={texts.passkeys.unlock} run={() => unlockByPasskey(able, staying)} />
}

function Ceremony({ words, run }: { words: string; run(): Promise<unknown> }) {
  const ceremony = useMutation({ mutationFn: run })
  return (
    <div className="stack">
      <Button isPending={ceremony.isPending} onPress={() => ceremony.mutate()}>
        {words}
      </Button>
      {ceremony.error ? <FailureNote error={ceremony.error} /> : null}
    </div>
  )
}
