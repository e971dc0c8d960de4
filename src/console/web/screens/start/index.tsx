/** The ways in: register, log in, unlock, recover. */
import { Link, useLocation } from '@tanstack/react-router'
import type { AccountState } from '../../keys/reports.ts'
import { Banner } from '../../parts/page/banner.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { LogIn, Unlock } from './log_in.tsx'
import { Recover } from './recover.tsx'
import { Register } from './register.tsx'

const words = texts.start

type Props = { account: Extract<AccountState, { kind: 'out' | 'locked' }> }

export default function Start({ account }: Props) {
  if (account.kind === 'locked') {
    return (
      <main className="start stack">
        <h1>{words.unlock}</h1>
        {account.by ? <Banner kind="warning">{words.locked[account.by]}</Banner> : null}
        <Unlock email={account.email} />
      </main>
    )
  }
  return <WaysIn isEnded={account.isEnded} />
}

function WaysIn({ isEnded }: { isEnded: boolean }) {
  // Behind the `#` may be the link of an invitation.
  const { pathname, hash } = useLocation()
  const { data: instance, error } = useAsk('accounts.instance', null)
  const named = [logIn, ...ways].find(({ path }) => pathname.endsWith(path))
  if (!named && !instance && !error) return <Loading />
  // Nobody can log in to a new installation.
  const way = named ?? (instance?.has_owner === false ? register : logIn)
  return (
    <main className="start stack">
      <h1>{way.title}</h1>
      {isEnded ? <Banner kind="warning">{words.ended}</Banner> : null}
      <way.Screen />
      <nav className="row" aria-label={words.otherWays}>
        {[logIn, ...ways]
          .filter((other) => other !== way)
          .map(({ path, link }) => (
            <Link key={path} to={path} hash={hash}>
              {link}
            </Link>
          ))}
      </nav>
    </main>
  )
}

const logIn = {
  path: '/login',
  title: words.logIn,
  link: words.haveAccount,
  Screen: LogIn,
} as const
const register = {
  path: '/register',
  title: words.register,
  link: words.needAccount,
  Screen: Register,
} as const
const ways = [
  register,
  { path: '/recover', title: words.recover, link: words.lostPassword, Screen: Recover },
] as const
