"""The compiler's cycle estimates, predicted from what an instruction is.

For programs that carry no estimates (docs/model.md, The learned model).
"""

from hybridalloc.learned.prediction import predict

__all__ = ["predict"]
