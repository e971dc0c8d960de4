/** The entrances: create account, sign in, unlock, recover. */
import { Link, useLocation } from '@tanstack/react-router'
import type { AccountState } from '../../keys/reports.ts'
import { Banner } from '../../parts/page/banner.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { LINK } from './entrance.tsx'
import { EntryPage } from './entry.tsx'
import { Recover } from './recover.tsx'
import { Register } from './register.tsx'
import { SignIn, Unlock } from './sign_in.tsx'

const words = texts.start

type Props = { account: Extract<AccountState, { kind: 'out' | 'locked' }> }

export default function Start({ account }: Props) {
  if (account.kind === 'out') return <Entrances isEnded={account.isEnded} />
  return (
    <EntryPage title={words.unlock} about={account.email}>
      {account.by ? <Banner>{words.locked[account.by]}</Banner> : null}
      <Unlock email={account.email} />
    </EntryPage>
  )
}

function Entrances({ isEnded }: { isEnded: boolean }) {
  // An invitation may follow the `#`.
  const { pathname, hash } = useLocation()
  const { data: instance, error } = useAsk('accounts.instance', null)
  const named = all.find(({ path }) => pathname.endsWith(path))
  if (!named && !instance && !error) return <Loading />
  // Nobody can sign in to a new installation.
  const shown = named ?? (instance?.has_owner === false ? register : signIn)
  return (
    <EntryPage title={shown.title}>
      {isEnded ? <Banner kind="warning">{words.ended}</Banner> : null}
      <shown.Screen />
      <nav className="flex justify-between gap-4 text-small" aria-label={words.otherWays}>
        {all
          .filter((other) => other !== shown)
          .map(({ path, link }) => (
            <Link key={path} to={path} hash={hash} className={LINK}>
              {link}
            </Link>
          ))}
      </nav>
    </EntryPage>
  )
}

const signIn = {
  path: '/login',
  title: words.signIn,
  link: words.signIn,
  Screen: SignIn,
} as const
const register = {
  path: '/register',
  title: words.register,
  link: words.register,
  Screen: Register,
} as const
const recover = {
  path: '/recover',
  title: words.recover,
  link: words.lostPassword,
  Screen: Recover,
} as const
const all = [signIn, register, recover]
