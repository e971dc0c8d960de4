// tier: all
/** A clock that is wrong by a day and is corrected. */
import { requires } from '../support/requires.ts'
import { startWithWrongClock, type WrongClock, wrongByADay } from './clock.ts'

const { afterAll, beforeAll, test } = requires('faketime')

let wrong: WrongClock | undefined

beforeAll(async () => {
  wrong = await startWithWrongClock()
})
afterAll(() => wrong?.stop())

test('a clock that is wrong by a day opens no closed access, and keeps nothing closed once it is right again', async () => {
  if (!wrong) throw new Error('there is no server')
  await wrongByADay(wrong)
})
