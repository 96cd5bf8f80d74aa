import { AnswerOnce } from './answer-once.js';

export const idempotencyUseCases = {
  answerOnce: AnswerOnce,
};
