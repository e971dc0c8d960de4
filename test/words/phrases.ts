/** Phrases of the former dialect, each with plain English for it. */

export type Phrase = {
  /** `(a|b)` lists forms, `…` is one to three words. A phrase matches whole words, in any case. */
  phrase: string
  instead: string
  /** Words before the phrase with which it is plain English. */
  unlessAfter?: string
}

export const phrases: readonly Phrase[] = [
  { phrase: 'anew', instead: 'again' },
  { phrase: 'whoever', instead: 'anyone who, or name the person' },
  { phrase: 'whom', instead: 'who, or name the person' },
  { phrase: '(is|are|was|were|be|been) told', instead: 'receives, learns, or name the message' },
  { phrase: 'of ours', instead: 'our, or name the owner' },
  { phrase: 'of (its|their|his|her) own', instead: 'its own + noun, or separate' },
  { phrase: 'of before', instead: 'previous, earlier' },
  { phrase: 'at it', instead: 'name the thing: review the change' },
  { phrase: 'nobody’s', instead: 'without an owner' },
  { phrase: 'somebody’s', instead: 'name the person: a member’s' },
  { phrase: 'whose … is', instead: 'with + noun: a folder with trusted content' },
  { phrase: 'there is none', instead: 'it is missing, or does not exist' },
  { phrase: 'is none', instead: 'is invalid, is empty, is not a UUID' },
  { phrase: 'it is said', instead: 'the message states, the console reports' },
  { phrase: 'as it says', instead: 'as documented, or name the source' },
  { phrase: '(take|takes|took|taken|taking) away', instead: 'remove' },
  { phrase: 'for good', instead: 'permanently' },
  { phrase: 'stands', instead: 'is, is listed, is active' },
  { phrase: '(let|lets|letting) go of', instead: 'releases, evicts, disconnects' },
  { phrase: '(give|gives|gave|given|giving) up', instead: 'cancels, stops retrying, times out' },
  {
    phrase: 'away',
    instead: 'unavailable, gone, elsewhere',
    unlessAfter: '(right|straight|tak(e|es|en|ing)|took)',
  },
]
